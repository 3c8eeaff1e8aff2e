// Calls that take an address and no device's: MPI gets them as they are, but a device address ends the program with a
// sentence. A call leaves this list when it is done on device memory.
#include "interpose/pass.hpp"

using namespace plumb::interpose;

extern "C" {

int MPI_Buffer_attach(void* buffer, int size) {
  return pass<PMPI_Buffer_attach>("MPI_Buffer_attach", buffer, size);
}

int MPI_Pack(const void* inbuf, int incount, MPI_Datatype type, void* outbuf, int outsize, int* position,
             MPI_Comm comm) {
  return pass<PMPI_Pack>("MPI_Pack", inbuf, incount, type, outbuf, outsize, position, comm);
}

int MPI_Unpack(const void* inbuf, int insize, int* position, void* outbuf, int outcount, MPI_Datatype type,
               MPI_Comm comm) {
  return pass<PMPI_Unpack>("MPI_Unpack", inbuf, insize, position, outbuf, outcount, type, comm);
}

int MPI_Pack_external(const char* name, const void* inbuf, int incount, MPI_Datatype type, void* outbuf,
                      MPI_Aint outsize, MPI_Aint* position) {
  return pass<PMPI_Pack_external>("MPI_Pack_external", name, inbuf, incount, type, outbuf, outsize, position);
}

int MPI_Unpack_external(const char* name, const void* inbuf, MPI_Aint insize, MPI_Aint* position, void* outbuf,
                        int outcount, MPI_Datatype type) {
  return pass<PMPI_Unpack_external>("MPI_Unpack_external", name, inbuf, insize, position, outbuf, outcount, type);
}

int MPI_Reduce_local(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op) {
  return pass<PMPI_Reduce_local>("MPI_Reduce_local", from, to, count, type, op);
}

int MPI_Neighbor_allgather(const void* from, int send_count, MPI_Datatype send_type, void* to, int receive_count,
                           MPI_Datatype receive_type, MPI_Comm comm) {
  return pass<PMPI_Neighbor_allgather>("MPI_Neighbor_allgather", from, send_count, send_type, to, receive_count,
                                       receive_type, comm);
}

int MPI_Neighbor_allgatherv(const void* from, int send_count, MPI_Datatype send_type, void* to,
                            const int* receive_counts, const int* offsets, MPI_Datatype receive_type, MPI_Comm comm) {
  return pass<PMPI_Neighbor_allgatherv>("MPI_Neighbor_allgatherv", from, send_count, send_type, to, receive_counts,
                                        offsets, receive_type, comm);
}

int MPI_Neighbor_alltoall(const void* from, int send_count, MPI_Datatype send_type, void* to, int receive_count,
                          MPI_Datatype receive_type, MPI_Comm comm) {
  return pass<PMPI_Neighbor_alltoall>("MPI_Neighbor_alltoall", from, send_count, send_type, to, receive_count,
                                      receive_type, comm);
}

int MPI_Neighbor_alltoallv(const void* from, const int* send_counts, const int* send_offsets, MPI_Datatype send_type,
                           void* to, const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type,
                           MPI_Comm comm) {
  return pass<PMPI_Neighbor_alltoallv>("MPI_Neighbor_alltoallv", from, send_counts, send_offsets, send_type, to,
                                       receive_counts, receive_offsets, receive_type, comm);
}

int MPI_Neighbor_alltoallw(const void* from, const int* send_counts, const MPI_Aint* send_offsets,
                           const MPI_Datatype* send_types, void* to, const int* receive_counts,
                           const MPI_Aint* receive_offsets, const MPI_Datatype* receive_types, MPI_Comm comm) {
  return pass<PMPI_Neighbor_alltoallw>("MPI_Neighbor_alltoallw", from, send_counts, send_offsets, send_types, to,
                                       receive_counts, receive_offsets, receive_types, comm);
}

int MPI_Ineighbor_allgather(const void* from, int send_count, MPI_Datatype send_type, void* to, int receive_count,
                            MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request) {
  return pass<PMPI_Ineighbor_allgather>("MPI_Ineighbor_allgather", from, send_count, send_type, to, receive_count,
                                        receive_type, comm, request);
}

int MPI_Ineighbor_allgatherv(const void* from, int send_count, MPI_Datatype send_type, void* to,
                             const int* receive_counts, const int* offsets, MPI_Datatype receive_type, MPI_Comm comm,
                             MPI_Request* request) {
  return pass<PMPI_Ineighbor_allgatherv>("MPI_Ineighbor_allgatherv", from, send_count, send_type, to, receive_counts,
                                         offsets, receive_type, comm, request);
}

int MPI_Ineighbor_alltoall(const void* from, int send_count, MPI_Datatype send_type, void* to, int receive_count,
                           MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request) {
  return pass<PMPI_Ineighbor_alltoall>("MPI_Ineighbor_alltoall", from, send_count, send_type, to, receive_count,
                                       receive_type, comm, request);
}

int MPI_Ineighbor_alltoallv(const void* from, const int* send_counts, const int* send_offsets, MPI_Datatype send_type,
                            void* to, const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type,
                            MPI_Comm comm, MPI_Request* request) {
  return pass<PMPI_Ineighbor_alltoallv>("MPI_Ineighbor_alltoallv", from, send_counts, send_offsets, send_type, to,
                                        receive_counts, receive_offsets, receive_type, comm, request);
}

int MPI_Ineighbor_alltoallw(const void* from, const int* send_counts, const MPI_Aint* send_offsets,
                            const MPI_Datatype* send_types, void* to, const int* receive_counts,
                            const MPI_Aint* receive_offsets, const MPI_Datatype* receive_types, MPI_Comm comm,
                            MPI_Request* request) {
  return pass<PMPI_Ineighbor_alltoallw>("MPI_Ineighbor_alltoallw", from, send_counts, send_offsets, send_types, to,
                                        receive_counts, receive_offsets, receive_types, comm, request);
}

int MPI_Win_attach(MPI_Win window, void* base, MPI_Aint size) {
  return pass<PMPI_Win_attach>("MPI_Win_attach", window, base, size);
}

int MPI_File_read_at(MPI_File file, MPI_Offset at, void* buffer, int count, MPI_Datatype type, MPI_Status* status) {
  return pass<PMPI_File_read_at>("MPI_File_read_at", file, at, buffer, count, type, status);
}

int MPI_File_read_at_all(MPI_File file, MPI_Offset at, void* buffer, int count, MPI_Datatype type, MPI_Status* status) {
  return pass<PMPI_File_read_at_all>("MPI_File_read_at_all", file, at, buffer, count, type, status);
}

int MPI_File_read(MPI_File file, void* buffer, int count, MPI_Datatype type, MPI_Status* status) {
  return pass<PMPI_File_read>("MPI_File_read", file, buffer, count, type, status);
}

int MPI_File_read_all(MPI_File file, void* buffer, int count, MPI_Datatype type, MPI_Status* status) {
  return pass<PMPI_File_read_all>("MPI_File_read_all", file, buffer, count, type, status);
}

int MPI_File_read_shared(MPI_File file, void* buffer, int count, MPI_Datatype type, MPI_Status* status) {
  return pass<PMPI_File_read_shared>("MPI_File_read_shared", file, buffer, count, type, status);
}

int MPI_File_read_ordered(MPI_File file, void* buffer, int count, MPI_Datatype type, MPI_Status* status) {
  return pass<PMPI_File_read_ordered>("MPI_File_read_ordered", file, buffer, count, type, status);
}

int MPI_File_iread_at(MPI_File file, MPI_Offset at, void* buffer, int count, MPI_Datatype type, MPI_Request* request) {
  return pass<PMPI_File_iread_at>("MPI_File_iread_at", file, at, buffer, count, type, request);
}

int MPI_File_iread_at_all(MPI_File file, MPI_Offset at, void* buffer, int count, MPI_Datatype type,
                          MPI_Request* request) {
  return pass<PMPI_File_iread_at_all>("MPI_File_iread_at_all", file, at, buffer, count, type, request);
}

int MPI_File_iread(MPI_File file, void* buffer, int count, MPI_Datatype type, MPI_Request* request) {
  return pass<PMPI_File_iread>("MPI_File_iread", file, buffer, count, type, request);
}

int MPI_File_iread_all(MPI_File file, void* buffer, int count, MPI_Datatype type, MPI_Request* request) {
  return pass<PMPI_File_iread_all>("MPI_File_iread_all", file, buffer, count, type, request);
}

int MPI_File_iread_shared(MPI_File file, void* buffer, int count, MPI_Datatype type, MPI_Request* request) {
  return pass<PMPI_File_iread_shared>("MPI_File_iread_shared", file, buffer, count, type, request);
}

int MPI_File_read_at_all_begin(MPI_File file, MPI_Offset at, void* buffer, int count, MPI_Datatype type) {
  return pass<PMPI_File_read_at_all_begin>("MPI_File_read_at_all_begin", file, at, buffer, count, type);
}

int MPI_File_read_at_all_end(MPI_File file, void* buffer, MPI_Status* status) {
  return pass<PMPI_File_read_at_all_end>("MPI_File_read_at_all_end", file, buffer, status);
}

int MPI_File_read_all_begin(MPI_File file, void* buffer, int count, MPI_Datatype type) {
  return pass<PMPI_File_read_all_begin>("MPI_File_read_all_begin", file, buffer, count, type);
}

int MPI_File_read_all_end(MPI_File file, void* buffer, MPI_Status* status) {
  return pass<PMPI_File_read_all_end>("MPI_File_read_all_end", file, buffer, status);
}

int MPI_File_read_ordered_begin(MPI_File file, void* buffer, int count, MPI_Datatype type) {
  return pass<PMPI_File_read_ordered_begin>("MPI_File_read_ordered_begin", file, buffer, count, type);
}

int MPI_File_read_ordered_end(MPI_File file, void* buffer, MPI_Status* status) {
  return pass<PMPI_File_read_ordered_end>("MPI_File_read_ordered_end", file, buffer, status);
}

int MPI_File_write_at(MPI_File file, MPI_Offset at, const void* buffer, int count, MPI_Datatype type,
                      MPI_Status* status) {
  return pass<PMPI_File_write_at>("MPI_File_write_at", file, at, buffer, count, type, status);
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void* buffer, int count, MPI_Datatype type,
                          MPI_Status* status) {
  return pass<PMPI_File_write_at_all>("MPI_File_write_at_all", file, at, buffer, count, type, status);
}

int MPI_File_write(MPI_File file, const void* buffer, int count, MPI_Datatype type, MPI_Status* status) {
  return pass<PMPI_File_write>("MPI_File_write", file, buffer, count, type, status);
}

int MPI_File_write_all(MPI_File file, const void* buffer, int count, MPI_Datatype type, MPI_Status* status) {
  return pass<PMPI_File_write_all>("MPI_File_write_all", file, buffer, count, type, status);
}

int MPI_File_write_shared(MPI_File file, const void* buffer, int count, MPI_Datatype type, MPI_Status* status) {
  return pass<PMPI_File_write_shared>("MPI_File_write_shared", file, buffer, count, type, status);
}

int MPI_File_write_ordered(MPI_File file, const void* buffer, int count, MPI_Datatype type, MPI_Status* status) {
  return pass<PMPI_File_write_ordered>("MPI_File_write_ordered", file, buffer, count, type, status);
}

int MPI_File_iwrite_at(MPI_File file, MPI_Offset at, const void* buffer, int count, MPI_Datatype type,
                       MPI_Request* request) {
  return pass<PMPI_File_iwrite_at>("MPI_File_iwrite_at", file, at, buffer, count, type, request);
}

int MPI_File_iwrite_at_all(MPI_File file, MPI_Offset at, const void* buffer, int count, MPI_Datatype type,
                           MPI_Request* request) {
  return pass<PMPI_File_iwrite_at_all>("MPI_File_iwrite_at_all", file, at, buffer, count, type, request);
}

int MPI_File_iwrite(MPI_File file, const void* buffer, int count, MPI_Datatype type, MPI_Request* request) {
  return pass<PMPI_File_iwrite>("MPI_File_iwrite", file, buffer, count, type, request);
}

int MPI_File_iwrite_all(MPI_File file, const void* buffer, int count, MPI_Datatype type, MPI_Request* request) {
  return pass<PMPI_File_iwrite_all>("MPI_File_iwrite_all", file, buffer, count, type, request);
}

int MPI_File_iwrite_shared(MPI_File file, const void* buffer, int count, MPI_Datatype type, MPI_Request* request) {
  return pass<PMPI_File_iwrite_shared>("MPI_File_iwrite_shared", file, buffer, count, type, request);
}

int MPI_File_write_at_all_begin(MPI_File file, MPI_Offset at, const void* buffer, int count, MPI_Datatype type) {
  return pass<PMPI_File_write_at_all_begin>("MPI_File_write_at_all_begin", file, at, buffer, count, type);
}

int MPI_File_write_at_all_end(MPI_File file, const void* buffer, MPI_Status* status) {
  return pass<PMPI_File_write_at_all_end>("MPI_File_write_at_all_end", file, buffer, status);
}

int MPI_File_write_all_begin(MPI_File file, const void* buffer, int count, MPI_Datatype type) {
  return pass<PMPI_File_write_all_begin>("MPI_File_write_all_begin", file, buffer, count, type);
}

int MPI_File_write_all_end(MPI_File file, const void* buffer, MPI_Status* status) {
  return pass<PMPI_File_write_all_end>("MPI_File_write_all_end", file, buffer, status);
}

int MPI_File_write_ordered_begin(MPI_File file, const void* buffer, int count, MPI_Datatype type) {
  return pass<PMPI_File_write_ordered_begin>("MPI_File_write_ordered_begin", file, buffer, count, type);
}

int MPI_File_write_ordered_end(MPI_File file, const void* buffer, MPI_Status* status) {
  return pass<PMPI_File_write_ordered_end>("MPI_File_write_ordered_end", file, buffer, status);
}

}  // extern "C"
