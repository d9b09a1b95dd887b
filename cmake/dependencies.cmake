# SPDX-License-Identifier: Apache-2.0
#
# What we build on, all of it from Debian (scripts/install-deps). Imported targets are SYSTEM, so
# their headers give no warnings. Link them by the names below.

find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)            # fmt::fmt
find_package(nlohmann_json REQUIRED)  # nlohmann_json::nlohmann_json
find_package(CLI11 REQUIRED)          # CLI11::CLI11
find_package(ZLIB REQUIRED)           # ZLIB::ZLIB
find_package(Threads REQUIRED)        # Threads::Threads
find_package(OpenSSL 3.0 REQUIRED)    # OpenSSL::SSL, OpenSSL::Crypto
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)                    # PkgConfig::zstd
pkg_check_modules(traceevent REQUIRED IMPORTED_TARGET libtraceevent)        # PkgConfig::traceevent
pkg_check_modules(bpf REQUIRED IMPORTED_TARGET libbpf)                      # PkgConfig::bpf
pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3>=3.38)           # PkgConfig::sqlite3
pkg_check_modules(edit REQUIRED IMPORTED_TARGET libedit)                    # PkgConfig::edit
# Of ncurses the part that knows terminals. Not by pkg-config, whose flags are for all of it.
find_library(STRATA_TINFO tinfo REQUIRED)
# What makes eBPF programs (cmake/bpf.cmake), whatever compiles the rest.
find_program(STRATA_CLANG clang REQUIRED)
find_program(STRATA_BPFTOOL bpftool REQUIRED PATHS /usr/sbin /sbin)

if(STRATA_TESTS)
  find_package(GTest REQUIRED)        # GTest::gmock_main: GoogleTest, its matchers, main()
endif()
if((STRATA_TESTS AND STRATA_BUILD STREQUAL "release") OR STRATA_BENCH)
  # Other programs' libraries: only tests and benchmarks that compare with them link these.
  pkg_check_modules(tracecmd REQUIRED IMPORTED_TARGET libtracecmd)          # PkgConfig::tracecmd
  pkg_check_modules(kshark REQUIRED IMPORTED_TARGET libkshark)              # PkgConfig::kshark
endif()
