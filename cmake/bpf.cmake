# SPDX-License-Identifier: Apache-2.0

# strata_bpf(<folder> <name>...)
#
# eBPF programs of a folder's library: src/<folder>/bpf/<name>.bpf.c is compiled by clang, and
# becomes, by bpftool, a header that holds the program and the functions to load it:
#
#   #include "<folder>/bpf/<name>.skel.h"
#
# The programs bring no types of the kernel's but those in Linux' own interface (<linux/bpf.h>);
# others they declare as far as they use them, with preserve_access_index, and libbpf finds the
# fields in the kernel that they are loaded into.
function(strata_bpf folder)
  strata_target_name(target ${folder})
  set(skeletons ${PROJECT_BINARY_DIR}/skeletons)
  file(MAKE_DIRECTORY ${skeletons}/${folder}/bpf)
  foreach(name IN LISTS ARGN)
    set(source ${PROJECT_SOURCE_DIR}/src/${folder}/bpf/${name}.bpf.c)
    set(object ${skeletons}/${folder}/bpf/${name}.bpf.o)
    set(skeleton ${skeletons}/${folder}/bpf/${name}.skel.h)
    # v3: atomic additions that give the old value. Architecture headers (<asm/types.h>) are this
    # machine's. What is linked has BTF and no DWARF, and its paths begin at the top folder.
    add_custom_command(OUTPUT ${skeleton}
      COMMAND ${STRATA_CLANG} -target bpf -mcpu=v3 -O2 -g -Wall -Werror
        -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
        -I ${PROJECT_SOURCE_DIR}/src
        -isystem /usr/include/${CMAKE_LIBRARY_ARCHITECTURE} -MD -MF ${object}.d -MT ${skeleton}
        -c ${source} -o ${object}.full
      COMMAND ${STRATA_BPFTOOL} gen object ${object} ${object}.full
      COMMAND ${STRATA_BPFTOOL} gen skeleton ${object} name ${name} > ${skeleton}
      DEPENDS ${source} DEPFILE ${object}.d VERBATIM
      COMMENT "Compiling src/${folder}/bpf/${name}.bpf.c for the kernel")
    target_sources(${target} PRIVATE ${skeleton})
  endforeach()
  # Generated code is not ours to warn about.
  target_include_directories(${target} SYSTEM PRIVATE ${skeletons})
  target_link_libraries(${target} PRIVATE PkgConfig::bpf)
endfunction()
