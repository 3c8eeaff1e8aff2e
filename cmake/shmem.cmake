# OpenSHMEM, any library of specification 1.4 or later. Its compiler wrapper is asked for its flags; PLUMBLINE_SHMEM_COMPILER
# names another wrapper. Without one plumb-shmem is left out. What 1.5 added is probed, into generated/shmem_features.hpp.
# Target plumbline_openshmem; PLUMBLINE_SHMEM_FOUND; PLUMBLINE_OSHRUN, the launcher.
include(CheckCXXSourceCompiles)
find_program(PLUMBLINE_SHMEM_COMPILER NAMES oshc++ oshCC oshcxx oshcc shmemc++ shmemcc DOC "compiler wrapper of OpenSHMEM")

# The wrapper's flags, by the options that wrappers know; a compiler that needs none (Cray's) says nothing.
set(shmem_flags "")
if(PLUMBLINE_SHMEM_COMPILER)
  foreach(option -showme --showme -show)
    execute_process(COMMAND ${PLUMBLINE_SHMEM_COMPILER} ${option} a.cpp OUTPUT_VARIABLE said ERROR_QUIET RESULT_VARIABLE failed
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed AND said MATCHES " -l[^ ]")
      separate_arguments(shmem_flags UNIX_COMMAND "${said}")
      list(REMOVE_ITEM shmem_flags a.cpp)
      list(REMOVE_AT shmem_flags 0)  # the compiler
      break()
    endif()
  endforeach()
endif()

# Another library: all is probed anew.
if(NOT "${PLUMBLINE_SHMEM_COMPILER} ${shmem_flags}" STREQUAL "${PLUMBLINE_SHMEM_PROBED}")
  foreach(probe FOUND TEAMS PUT_SIGNAL ATOMIC_NBI WAIT_MANY MALLOC_HINTS TO_ALL IS_OPEN_MPI)
    unset(PLUMBLINE_SHMEM_${probe} CACHE)
  endforeach()
  set(PLUMBLINE_SHMEM_PROBED "${PLUMBLINE_SHMEM_COMPILER} ${shmem_flags}" CACHE INTERNAL "")
endif()

set(shmem_folders "")
set(shmem_compile "")
set(shmem_link "")
while(shmem_flags)
  list(POP_FRONT shmem_flags flag)
  if(flag MATCHES "^-(I|isystem)$")
    list(POP_FRONT shmem_flags folder)
    list(APPEND shmem_folders ${folder})
  elseif(flag MATCHES "^-I(.+)$")
    list(APPEND shmem_folders ${CMAKE_MATCH_1})
  elseif(flag MATCHES "^-D")
    list(APPEND shmem_compile ${flag})
  elseif(flag MATCHES "^-([lL]|Wl|pthread)|^/")
    list(APPEND shmem_link ${flag})
    if(flag MATCHES "^-L(/.+)$")
      list(APPEND shmem_link -Wl,-rpath,${CMAKE_MATCH_1})
    endif()
  endif()
endwhile()

add_library(plumbline_openshmem INTERFACE IMPORTED)
target_include_directories(plumbline_openshmem SYSTEM INTERFACE ${shmem_folders})
target_compile_options(plumbline_openshmem INTERFACE ${shmem_compile})
target_link_libraries(plumbline_openshmem INTERFACE ${shmem_link})

# plumbline_shmem_probe(RESULT TEXT): whether these statements compile and link.
function(plumbline_shmem_probe result text)
  set(CMAKE_REQUIRED_LIBRARIES plumbline_openshmem)
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_compiles("#include <shmem.h>\n#include <cstdint>\nint main() { static uint64_t x; static long l; (void)x; (void)l; ${text} return 0; }"
                            ${result})
endfunction()

plumbline_shmem_probe(PLUMBLINE_SHMEM_FOUND "int p; shmem_init_thread(SHMEM_THREAD_MULTIPLE, &p); shmem_ctx_t c; shmem_ctx_create(0, &c);
  shmem_ctx_uint64_atomic_xor(c, &x, 1, 0); (void)shmem_uint64_test(&x, SHMEM_CMP_EQ, 1); shmem_sync_all(); shmem_finalize();")
if(NOT PLUMBLINE_SHMEM_FOUND)
  message(STATUS "No OpenSHMEM (1.4 or later): plumb-shmem is left out. Install one (Debian: openmpi-bin libopenmpi-dev), load "
                 "its module, or name its compiler wrapper in PLUMBLINE_SHMEM_COMPILER; or PLUMBLINE_SHMEM=OFF to hear no more of it")
  return()
endif()

plumbline_shmem_probe(PLUMBLINE_SHMEM_TEAMS "shmem_team_t t; shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, 0, 0, &t); shmem_team_sync(t);")
plumbline_shmem_probe(PLUMBLINE_SHMEM_PUT_SIGNAL "shmem_putmem_signal(&l, &l, 8, &x, 1, SHMEM_SIGNAL_SET, 0); shmem_signal_wait_until(&x, SHMEM_CMP_EQ, 1);")
plumbline_shmem_probe(PLUMBLINE_SHMEM_ATOMIC_NBI "uint64_t y; shmem_uint64_atomic_fetch_add_nbi(&y, &x, 1, 0);")
plumbline_shmem_probe(PLUMBLINE_SHMEM_WAIT_MANY "shmem_uint64_wait_until_all(&x, 1, nullptr, SHMEM_CMP_EQ, 1);")
plumbline_shmem_probe(PLUMBLINE_SHMEM_MALLOC_HINTS "shmem_malloc_with_hints(8, SHMEM_MALLOC_ATOMICS_REMOTE);")
plumbline_shmem_probe(PLUMBLINE_SHMEM_TO_ALL "static long w[SHMEM_REDUCE_MIN_WRKDATA_SIZE], s[SHMEM_REDUCE_SYNC_SIZE]; shmem_long_sum_to_all(&l, &l, 1, 0, 0, 1, w, s);")
plumbline_shmem_probe(PLUMBLINE_SHMEM_IS_OPEN_MPI "static_assert(OSHMEM_MAJOR_VERSION > 0);")
configure_file(${CMAKE_CURRENT_LIST_DIR}/shmem_features.hpp.in ${CMAKE_BINARY_DIR}/generated/shmem_features.hpp)

get_filename_component(shmem_folder "${PLUMBLINE_SHMEM_COMPILER}" DIRECTORY)
find_program(PLUMBLINE_OSHRUN NAMES oshrun shmemrun HINTS ${shmem_folder} DOC "launcher of OpenSHMEM programs")

# plumbline_shmem_command(OUT PES PROGRAM...): the command line that runs a program on so many PEs, cores or not.
function(plumbline_shmem_command out pes)
  set(options "")
  if(PLUMBLINE_SHMEM_IS_OPEN_MPI)
    set(options --oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
  endif()
  set(${out} ${PLUMBLINE_OSHRUN} -n ${pes} ${options} ${ARGN} PARENT_SCOPE)
endfunction()
