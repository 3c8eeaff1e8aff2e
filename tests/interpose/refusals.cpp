// refusals NAME: one call that cannot be done, which ends the program by MPI_Abort with its sentence; of plumb_mpi.h's
// functions, what plumb_mpi_error() says.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "plumb_mpi.h"

namespace {

constexpr std::size_t size = 64;

void* allocate() {
  void* address = nullptr;
  if (plumb_mpi_alloc(size, &address) != 0) std::fputs(plumb_mpi_error(), stderr);
  return address;
}

// A message from device to device for which there is too little room.
void receive_too_long() {
  void* address = nullptr;
  constexpr int bytes = 4096;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (plumb_mpi_alloc(bytes, &address) != 0) std::fputs(plumb_mpi_error(), stderr);
  if (rank == 0) MPI_Send(address, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(address, bytes / 2, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  plumb_mpi_free(address);
}

void refuse(const std::string& name) {
  void* address = allocate();
  MPI_Request request = MPI_REQUEST_NULL;
  if (name == "freed") {
    plumb_mpi_free(address);
    MPI_Send(address, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else if (name == "past_end") {
    MPI_Allreduce(MPI_IN_PLACE, static_cast<std::byte*>(address) + 8, 16, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else if (name == "unknown") {
    MPI_Recv(static_cast<std::byte*>(address) - 1, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (name == "unhandled") {
    MPI_Buffer_attach(address, size);
  } else if (name == "file") {
#if MPI_VERSION >= 4
    MPI_File_write_at_c(MPI_FILE_NULL, 0, address, 1, MPI_INT, MPI_STATUS_IGNORE);
#else
    MPI_File_write_at(MPI_FILE_NULL, 0, address, 1, MPI_INT, MPI_STATUS_IGNORE);
#endif
  } else if (name == "too_long") {
    receive_too_long();
  } else if (name == "window_past_end") {
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_create(static_cast<std::byte*>(address) + 8, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  } else if (name == "in_window") {
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_create(address, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (plumb_mpi_free(address) != 0) std::puts(plumb_mpi_error());
    MPI_Win_free(&window);
  } else {
    MPI_Irecv(address, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
    if (name == "cancel") MPI_Cancel(&request);
    if (name == "freed_request") MPI_Request_free(&request);
    if (name == "in_use" && plumb_mpi_free(address) != 0) std::puts(plumb_mpi_error());
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Send(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  refuse(argc > 1 ? argv[1] : "");
  std::puts("nothing was refused");
  MPI_Finalize();
}
