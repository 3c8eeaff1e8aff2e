#include "interpose/calls/startup.hpp"

#include <mpi.h>

#include "interpose/peer/offers.hpp"
#include "interpose/staging/freed_requests.hpp"

namespace plumb::interpose {

namespace {

Seat seat;
bool finalizing = false;

// Collective, as MPI_Init is.
void take_seat() {
  PMPI_Comm_rank(MPI_COMM_WORLD, &seat.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &seat.ranks);
  MPI_Comm host = MPI_COMM_NULL;
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  PMPI_Comm_rank(host, &seat.local_rank);
  agree_on_offers(host);
  PMPI_Comm_free(&host);
}

}  // namespace

bool is_finalizing() {
  return finalizing;
}

// What was freed under way is to be sent.
void finalize() {
  end_freed(true);
  finalizing = true;
}

const Seat& this_seat() {
  int initialized = 0, finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  if (initialized == 0 || finalized != 0) throw Error("device memory is allocated between MPI_Init and MPI_Finalize");
  return seat;
}

}  // namespace plumb::interpose

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) plumb::interpose::take_seat();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) plumb::interpose::take_seat();
  return code;
}

int MPI_Finalize() {
  plumb::interpose::finalize();
  return PMPI_Finalize();
}

}  // extern "C"
