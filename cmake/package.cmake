# SPDX-License-Identifier: Apache-2.0
#
# The package that other programs build on, by find_package(strata) or pkg-config. Its parts are
# components of the installation, so that one of them can be had alone:
# cmake --install build/release --component probe

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(STRATA_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/strata)
configure_package_config_file(cmake/strata-config.cmake.in strata-config.cmake
  INSTALL_DESTINATION ${STRATA_PACKAGE}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(strata-config-version.cmake COMPATIBILITY SameMinorVersion)

# strata_install_part(<part> TARGETS <libraries> HEADERS <files and folders of include/strata> PC <file>)
#
# What programs need of the calling folder: its libraries as strata::<their export name>, headers,
# and <file>.in filled in for pkg-config.
function(strata_install_part part)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PC" "TARGETS;HEADERS")
  install(TARGETS ${arg_TARGETS} EXPORT strata_${part} COMPONENT ${part})
  install(EXPORT strata_${part} FILE strata-${part}.cmake NAMESPACE strata::
    DESTINATION ${STRATA_PACKAGE} COMPONENT ${part})
  install(FILES ${PROJECT_BINARY_DIR}/strata-config.cmake
    ${PROJECT_BINARY_DIR}/strata-config-version.cmake
    DESTINATION ${STRATA_PACKAGE} COMPONENT ${part})
  foreach(header IN LISTS arg_HEADERS)
    set(path ${PROJECT_SOURCE_DIR}/include/strata/${header})
    if(IS_DIRECTORY ${path})
      install(DIRECTORY ${path} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/strata COMPONENT ${part})
    else()
      install(FILES ${path} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/strata COMPONENT ${part})
    endif()
  endforeach()
  # The prefix is where the file is found: `cmake --install --prefix` may put it anywhere.
  file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  set(STRATA_PREFIX "\${pcfiledir}/${up}")
  configure_file(${arg_PC}.in ${arg_PC} @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${arg_PC}
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${part})
endfunction()
