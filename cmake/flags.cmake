# SPDX-License-Identifier: Apache-2.0
#
# Compiler flags. What a build is for (STRATA_BUILD) sets the flags of everything in it, so that
# no two objects of one program disagree about NDEBUG or a sanitizer. Warnings belong to our own
# code alone and travel with the target strata_warnings.

set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# CMake's build types are not used: their flags would come on top of these.
set(CMAKE_BUILD_TYPE "" CACHE STRING "unused, see STRATA_BUILD" FORCE)

if(STRATA_BUILD STREQUAL "release")
  # -g1: function names and lines for profilers and stack traces at a fraction of -g's size.
  # Optimised across files where it counts: the program and the benchmarks are linked with
  # strata_whole_program: an event's way spans five files. Objects are fat, so that tests
  # link them as they are. Without (STRATA_LTO=OFF) it builds in half the time.
  add_compile_options(-O2 -g1)
  if(STRATA_LTO)
    add_compile_options(-flto=auto -ffat-lto-objects)
    add_link_options(-fno-lto)
  endif()
  add_compile_definitions(NDEBUG)
elseif(STRATA_BUILD STREQUAL "asan")
  # libFuzzer's instrumentation too: the same libraries serve unit tests and fuzz targets.
  set(sanitizers -fsanitize=fuzzer-no-link,address,undefined)
elseif(STRATA_BUILD STREQUAL "tsan")
  set(sanitizers -fsanitize=thread)
else()
  message(FATAL_ERROR "STRATA_BUILD is '${STRATA_BUILD}': release, asan or tsan is wanted")
endif()

if(sanitizers)
  add_compile_options(-O1 -g1 -fno-omit-frame-pointer ${sanitizers} -fno-sanitize-recover=all)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  add_link_options(${sanitizers})
endif()

# strata_optimise_less(<target> <folder>): in the asan build, folders that take no part in reading a
# trace are compiled without optimisation, in little more than half the time.
function(strata_optimise_less target folder)
  set(folders cli kernel lib live query record top)
  if(STRATA_BUILD STREQUAL "asan" AND folder IN_LIST folders)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

add_library(strata_whole_program INTERFACE)
if(STRATA_BUILD STREQUAL "release" AND STRATA_LTO)
  target_link_options(strata_whole_program INTERFACE -flto=auto)
endif()

add_library(strata_warnings INTERFACE)
# -Wsign-conversion stays off: offsets and sizes from std:: and from POSIX differ in sign all over,
# and the casts that would silence it hide more than it finds. (clang's -Wconversion includes it.)
target_compile_options(strata_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 finds overlapping copies inside std::string's operator+ that are not there (PR 105651).
  target_compile_options(strata_warnings INTERFACE -Wno-restrict)
  if(sanitizers)
    # GCC's manual: the sanitizers' own code makes this one report what is not so.
    target_compile_options(strata_warnings INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
