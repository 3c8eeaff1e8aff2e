// MPI_Init and MPI_Finalize.
#include <mpi.h>

#include "interpose/memory/seat.hpp"
#include "interpose/peer/offers.hpp"
#include "interpose/staging/freed_requests.hpp"
#include "interpose/staging/pieces.hpp"

namespace plumb::interpose {

namespace {

// Collective, like MPI_Init.
void take_seat() {
  Seat seat;
  PMPI_Comm_rank(MPI_COMM_WORLD, &seat.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &seat.ranks);
  MPI_Comm host = MPI_COMM_NULL;
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  PMPI_Comm_rank(host, &seat.local_rank);
  set_seat(seat);
  agree_on_offers(host);
  begin_pieces();
  PMPI_Comm_free(&host);
}

}  // namespace

}  // namespace plumb::interpose

using namespace plumb::interpose;

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) take_seat();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) take_seat();
  return code;
}

int MPI_Finalize() {
  end_freed(true);  // a send whose request was freed must still complete
  end_pieces(true);
  begin_finalizing();
  return PMPI_Finalize();
}

}  // extern "C"
