# SPDX-License-Identifier: Apache-2.0

# strata_target_name(<variable> <folder>): format/tracedat -> strata_format_tracedat
function(strata_target_name variable folder)
  string(REPLACE "/" "_" name ${folder})
  set(${variable} strata_${name} PARENT_SCOPE)
endfunction()

# strata_precompile(<target> <header>...): these headers, and those of the standard library that
# nearly every file includes, are read once for the target. In the sanitized build alone: that a file
# includes what it needs is seen by the others.
function(strata_precompile target)
  if(STRATA_PRECOMPILED AND STRATA_BUILD STREQUAL "asan")
    target_precompile_headers(${target} PRIVATE ${ARGN}
      <algorithm> <chrono> <functional> <map> <memory> <optional> <span> <string> <string_view>
      <variant> <vector>)
  endif()
endfunction()

# strata_library(<folder> [DEPENDS <folders>] [LIBS <external targets>])
#
# The library of one folder of src: its *.cc except main.cc. Headers are included by their path
# below src ("trace/stream.h"). DEPENDS are the folders that this one may know; the table in
# docs/architecture.md decides, and scripts/check-includes holds the includes against it.
# Dependencies are handed on to whoever links the library: "may know" is transitive.
function(strata_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LIBS")
  strata_target_name(target ${folder})
  set(links ${arg_LIBS})
  foreach(other IN LISTS arg_DEPENDS)
    strata_target_name(name ${other})
    list(APPEND links ${name})
  endforeach()

  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "(/main|_test|_fuzzer)\\.cc$")
  if(sources)
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} PUBLIC ${links} PRIVATE strata_warnings)
    if(STRATA_BUILD STREQUAL "release")
      # Any folder may become a part of libstrata.so, which shows none of it.
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON
        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    endif()
    strata_optimise_less(${target} ${folder})
    strata_precompile(${target})
  else()  # a folder of headers, so far
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} INTERFACE ${links})
  endif()
endfunction()

# strata_program(<name> <folder>): build/<preset>/<name> from src/<folder>/main.cc and the folder's
# library.
function(strata_program name folder)
  set(main ${PROJECT_SOURCE_DIR}/src/${folder}/main.cc)
  if(NOT EXISTS ${main})
    return()
  endif()
  strata_target_name(library ${folder})
  add_executable(${name} ${main})
  target_link_libraries(${name} PRIVATE ${library} strata_warnings strata_whole_program)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endfunction()
