// Calls that take an address and no device's: MPI gets them as they are, but a device address ends the program with a
// sentence. A call leaves this list when it is done on device memory.
#include "interpose/calls/pass.hpp"

using namespace plumb::interpose;

extern "C" {

int MPI_Buffer_attach(void* buffer, int size) {
  return pass<PMPI_Buffer_attach>("MPI_Buffer_attach", buffer, size);
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
