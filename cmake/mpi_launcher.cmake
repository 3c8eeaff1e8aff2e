# PLUMBLINE_MPIEXEC: the launcher that belongs to the MPI that find_package(MPI) found. Where two MPIs are installed,
# `mpiexec` may be the other's, and would start n worlds of one rank each.
function(plumbline_belongs result program)
  execute_process(COMMAND ${program} --version OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(said MATCHES "Open MPI|OpenRTE")
    set(open_mpi TRUE)
  else()
    set(open_mpi FALSE)
  endif()
  if(NOT open_mpi STREQUAL PLUMBLINE_OPEN_MPI)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

if(PLUMBLINE_MPI_IS_OPEN_MPI)
  set(PLUMBLINE_OPEN_MPI TRUE)
  set(launchers mpirun.openmpi mpirun mpiexec orterun)
else()
  set(PLUMBLINE_OPEN_MPI FALSE)
  set(launchers mpiexec.mpich mpiexec.hydra mpiexec mpirun)
endif()
get_filename_component(mpi_folder "${MPI_CXX_COMPILER}" DIRECTORY)
find_program(PLUMBLINE_MPIEXEC NAMES ${launchers} HINTS ${mpi_folder} VALIDATOR plumbline_belongs
             DOC "launcher of the MPI that is built with")
if(NOT PLUMBLINE_MPIEXEC)
  message(FATAL_ERROR "There is an MPI library but no launcher of its own among ${launchers}. On Debian: apt-get install "
                      "openmpi-bin (or mpich). Elsewhere: load the module that the library is from.")
endif()

# plumbline_mpi_command(OUT RANKS PROGRAM...): the command line that runs a program on so many ranks, cores or not.
function(plumbline_mpi_command out ranks)
  set(options "")
  if(PLUMBLINE_OPEN_MPI)
    set(options --oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
  endif()
  set(${out} ${PLUMBLINE_MPIEXEC} -n ${ranks} ${options} ${ARGN} PARENT_SCOPE)
endfunction()
