# SPDX-License-Identifier: Apache-2.0
#
# Which test runs where is said by its file's name, tests/<folder>/<subject><ending>:
#
#   ending                  label    build     what it is
#   _test.cc                unit     asan      needs nothing but the code
#   _concurrent_test.cc     unit     asan,tsan several threads
#   _kernel_test.cc/.sh/.py kernel   release   needs this machine's kernel (tracefs); one at a time
#   _peer_test.cc/.sh/.py   peer     release   needs other programs (trace-cmd, ...)
#   _vm_test.sh/.py         vm       release   boots machines of its own (tests/vm/run); one at a time
#   _test.sh/.py            unit     asan      a script that runs the program
#   _fuzzer.cc              fuzz     asan      LLVMFuzzerTestOneInput, six seconds
#
# Every test is registered in one build only (the concurrent ones in two), so that ctest over all
# builds runs each once. Tests are named <build>/<folder>/<Suite.Name>.
# A test that cannot run says why and skips: GTEST_SKIP() << "why", or exit status 77.

include(GoogleTest)

# Sources that the tests of several folders share: tests/support/*.cc, included as "support/x.h".
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.cc)
if(sources)
  add_library(strata_test_support STATIC EXCLUDE_FROM_ALL ${sources})
  target_include_directories(strata_test_support
    PUBLIC ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(strata_test_support PUBLIC GTest::gmock strata_base PRIVATE strata_warnings)
else()
  add_library(strata_test_support INTERFACE)
  target_include_directories(strata_test_support INTERFACE ${PROJECT_SOURCE_DIR}/tests)
endif()

# One GoogleTest program from the given files. Paths of this checkout and of the program under test
# are compiled in, so that it can also be run by hand from anywhere.
function(strata_test_program target label folder timeout)
  cmake_parse_arguments(PARSE_ARGV 4 arg "ALONE" "" "SOURCES;LIBS")
  strata_target_name(library ${folder})
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE
    ${library} strata_test_support ${arg_LIBS} GTest::gmock_main strata_warnings)
  strata_optimise_less(${target} ${folder})
  strata_precompile(${target} <gmock/gmock.h>)
  target_compile_definitions(${target} PRIVATE
    STRATA_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    STRATA_PROGRAM="${PROJECT_BINARY_DIR}/strata")
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(STRATA_BUILD STREQUAL "release")
    target_compile_options(${target} PRIVATE -fno-lto)  # they are linked without
  else()
    set_target_properties(${target} PROPERTIES
      CROSSCOMPILING_EMULATOR ${PROJECT_SOURCE_DIR}/scripts/run-sanitized)
  endif()
  if(TARGET strata AND NOT STRATA_BUILD STREQUAL "tsan")  # a test may run the program
    add_dependencies(${target} strata)
  endif()

  set(properties LABELS ${label} TIMEOUT ${timeout})
  if(label STREQUAL "kernel" OR arg_ALONE)
    list(APPEND properties RESOURCE_LOCK kernel)
  endif()
  # PRE_TEST: listing the tests runs the program, which a build should not have to.
  # GTEST_SKIP becomes ctest's "Skipped" through the SKIP_REGULAR_EXPRESSION that CMake sets.
  gtest_discover_tests(${target}
    TEST_PREFIX ${STRATA_BUILD}/${folder}/
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
    PROPERTIES ${properties})
endfunction()

# strata_tests(<folder> [LIBS <targets>] [PEER_LIBS <targets>] [TIMEOUT <seconds>])
#
# All tests of tests/<folder>, linked to the library of src/<folder>. LIBS are further targets for
# all of them, PEER_LIBS for the peer tests alone (PkgConfig::tracecmd, PkgConfig::kshark).
# Files of the folder with other names are helpers of its tests; *_peer.cc and *_peer.c of the peer
# tests alone (C, because the headers of these libraries are not C++). ALONE: unit tests do not run
# beside kernel tests nor beside each other, either.
function(strata_tests folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALONE" "TIMEOUT" "LIBS;PEER_LIBS")
  set(alone)
  if(arg_ALONE)
    set(alone ALONE)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  string(REPLACE "/" "_" name ${folder})
  set(directory ${PROJECT_SOURCE_DIR}/tests/${folder})
  file(GLOB unit CONFIGURE_DEPENDS ${directory}/*_test.cc)
  file(GLOB fuzzers CONFIGURE_DEPENDS ${directory}/*_fuzzer.cc)
  file(GLOB helpers CONFIGURE_DEPENDS ${directory}/*.cc)
  file(GLOB scripts CONFIGURE_DEPENDS ${directory}/*_test.sh ${directory}/*_test.py)
  file(GLOB peer_helpers CONFIGURE_DEPENDS ${directory}/*_peer.cc ${directory}/*_peer.c)
  list(REMOVE_ITEM helpers ${unit} ${fuzzers} ${peer_helpers})
  foreach(kind kernel peer concurrent)
    set(${kind} ${unit})
    list(FILTER ${kind} INCLUDE REGEX "_${kind}_test\\.cc$")
  endforeach()
  list(REMOVE_ITEM unit ${kernel} ${peer})

  if(STRATA_BUILD STREQUAL "asan" AND unit)
    strata_test_program(${name}_test unit ${folder} ${arg_TIMEOUT} ${alone}
      SOURCES ${unit} ${helpers} LIBS ${arg_LIBS})
  endif()
  if(STRATA_BUILD STREQUAL "tsan" AND concurrent)
    strata_test_program(${name}_concurrent_test unit ${folder} ${arg_TIMEOUT} ${alone}
      SOURCES ${concurrent} ${helpers} LIBS ${arg_LIBS})
  endif()
  if(STRATA_BUILD STREQUAL "release" AND kernel)
    strata_test_program(${name}_kernel_test kernel ${folder} ${arg_TIMEOUT}
      SOURCES ${kernel} ${helpers} LIBS ${arg_LIBS})
  endif()
  if(STRATA_BUILD STREQUAL "release" AND peer)
    strata_test_program(${name}_peer_test peer ${folder} ${arg_TIMEOUT}
      SOURCES ${peer} ${helpers} ${peer_helpers} LIBS ${arg_LIBS} ${arg_PEER_LIBS})
  endif()

  foreach(script IN LISTS scripts)
    cmake_path(GET script STEM stem)
    if(stem MATCHES "_(kernel|peer|vm)_test$")
      set(label ${CMAKE_MATCH_1})
    else()
      set(label unit)
    endif()
    strata_script_test(${folder}/${stem} ${script} LABEL ${label} TIMEOUT ${arg_TIMEOUT})
  endforeach()

  if(STRATA_BUILD STREQUAL "asan")
    foreach(source IN LISTS fuzzers)
      strata_fuzzer(${folder} ${source} ${arg_LIBS})
    endforeach()
  endif()
endfunction()

# strata_script_test(<name> <script> LABEL unit|kernel|peer|vm|source [TIMEOUT <seconds>])
#
# An executable script, run in the top folder with STRATA_PROGRAM in its environment. Exit status 77
# is "skipped"; the last line it printed is the reason.
function(strata_script_test name script)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "LABEL;TIMEOUT" "")
  if(arg_LABEL MATCHES "^(kernel|peer|vm)$")
    set(build release)
  else()
    set(build asan)
  endif()
  if(NOT STRATA_BUILD STREQUAL build)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  cmake_path(ABSOLUTE_PATH script BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set(launcher)
  if(build STREQUAL "asan" AND NOT arg_LABEL STREQUAL "source")
    set(launcher ${PROJECT_SOURCE_DIR}/scripts/run-sanitized)
  endif()
  add_test(NAME ${build}/${name} COMMAND ${launcher} ${script}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${build}/${name} PROPERTIES
    LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77
    ENVIRONMENT "STRATA_PROGRAM=${PROJECT_BINARY_DIR}/strata")
  # One at a time, they take longest: ctest begins with them, so that others fill the gaps.
  if(arg_LABEL MATCHES "^(kernel|vm)$")
    set_tests_properties(${build}/${name} PROPERTIES RESOURCE_LOCK ${arg_LABEL})
  endif()
  if(arg_LABEL STREQUAL "vm")
    set_tests_properties(${build}/${name} PROPERTIES COST 1000)
  elseif(arg_LABEL STREQUAL "kernel")
    set_tests_properties(${build}/${name} PROPERTIES COST 100)
  endif()
endfunction()

# One libFuzzer program. scripts/fuzz gathers its seeds (tests/fuzz-seeds.sh) and runs it.
function(strata_fuzzer folder source)
  cmake_path(GET source STEM stem)
  string(REPLACE "/" "_" target ${folder}/${stem})
  strata_target_name(library ${folder})
  add_executable(${target} ${source})
  target_compile_options(${target} PRIVATE -fsanitize=fuzzer)
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${target} PRIVATE ${library} strata_test_support ${ARGN} strata_warnings)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzzers)
  string(REGEX REPLACE "_fuzzer$" "" name ${folder}/${stem})
  add_test(NAME fuzz/${name} COMMAND ${PROJECT_SOURCE_DIR}/scripts/fuzz --built ${name} 6
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(fuzz/${name} PROPERTIES LABELS fuzz TIMEOUT 120)
endfunction()

# The checks of the source text itself.
foreach(check includes spdx format paths)
  strata_script_test(source/${check} ${PROJECT_SOURCE_DIR}/scripts/check-${check} LABEL source)
endforeach()
