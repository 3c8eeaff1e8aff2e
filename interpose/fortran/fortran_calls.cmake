# Fortran's entry points under Open MPI: for each call NAME with N arguments in C, mpi_name_ (mpif.h, use mpi) and the
# function by which use mpi_f08 enters the library, ompi_name_f. fortran.hpp says what they do; those of calls with
# arrays of handles are in fortran_arrays.cpp.
set(fortran_calls
    1: Start Cancel Request_free Win_free Win_complete Win_wait Win_sync Win_flush_all Win_flush_local_all Win_unlock_all
    2: Wait Buffer_attach Win_fence Win_flush Win_flush_local Win_unlock Win_lock_all
    3: Win_post Win_start Win_attach File_read_all_end File_read_at_all_end File_read_ordered_end File_write_all_end
       File_write_at_all_end File_write_ordered_end
    4: Win_lock Probe File_read_all_begin File_read_ordered_begin File_write_all_begin File_write_ordered_begin
    5: Mprobe Mrecv Imrecv Bcast Reduce_local File_read File_read_all File_read_shared File_read_ordered File_iread
       File_iread_all File_iread_shared File_write File_write_all File_write_shared File_write_ordered File_iwrite
       File_iwrite_all File_iwrite_shared File_read_at_all_begin File_write_at_all_begin
    6: Send Bsend Ssend Rsend Ibcast Allreduce Reduce_scatter Reduce_scatter_block Scan Exscan Win_create File_read_at
       File_read_at_all File_iread_at File_iread_at_all File_write_at File_write_at_all File_iwrite_at File_iwrite_at_all
    7: Isend Ibsend Issend Irsend Send_init Bsend_init Ssend_init Rsend_init Recv Irecv Recv_init Allgather Alltoall
       Reduce Iallreduce Ireduce_scatter Ireduce_scatter_block Iscan Iexscan Neighbor_allgather Neighbor_alltoall Pack
       Unpack Fetch_and_op Compare_and_swap
    8: Gather Scatter Allgatherv Iallgather Ialltoall Ireduce Neighbor_allgatherv Ineighbor_allgather
       Ineighbor_alltoall Put Get
    9: Sendrecv_replace Gatherv Scatterv Igather Iscatter Iallgatherv Alltoallv Neighbor_alltoallv
       Ineighbor_allgatherv Rput Rget Accumulate
    10: Igatherv Iscatterv Ialltoallv Ineighbor_alltoallv Raccumulate
    12: Sendrecv Get_accumulate
    13: Rget_accumulate)
# Of these, with a result of type LOGICAL, use mpi_f08 enters by the profiling name.
set(fortran_logical_calls 2: Win_test 3: Test Request_get_status 5: Iprobe 6: Improbe)

function(plumbline_fortran_call name arguments entry original)
  set(parameters "")
  set(passed "")
  foreach(i RANGE 1 ${arguments})
    string(APPEND parameters "Address a${i}, ")
    string(APPEND passed ", a${i}")
  endforeach()
  string(APPEND parameters "Address error")
  set(text "${fortran_text}")
  string(APPEND text "[[gnu::weak]] void ${original}(${parameters});\n"
         "void mpi_${lower}_(${parameters}) {\n  enter(MPI_${name}, ${original}, error${passed});\n}\n"
         "[[gnu::alias(\"mpi_${lower}_\")]] void ${entry}(${parameters});\n\n")
  set(fortran_text "${text}" PARENT_SCOPE)
endfunction()

string(CONCAT fortran_text "// Made by interpose/fortran/fortran_calls.cmake.\n#include \"interpose/fortran/fortran.hpp\"\n\n"
       "using namespace plumb::interpose::fortran;\n\nextern \"C\" {\n\n")
foreach(word IN LISTS fortran_calls)
  string(TOLOWER ${word} lower)
  if(word MATCHES "^([0-9]+):$")
    set(arguments ${CMAKE_MATCH_1})
  else()
    plumbline_fortran_call(${word} ${arguments} ompi_${lower}_f pmpi_${lower}_)
  endif()
endforeach()
foreach(word IN LISTS fortran_logical_calls)
  string(TOLOWER ${word} lower)
  if(word MATCHES "^([0-9]+):$")
    set(arguments ${CMAKE_MATCH_1})
  else()
    plumbline_fortran_call(${word} ${arguments} pmpi_${lower}_ ompi_${lower}_f)
  endif()
endforeach()
string(APPEND fortran_text "}  // extern \"C\"\n")
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/fortran_calls.cpp CONTENT "${fortran_text}" @ONLY)
