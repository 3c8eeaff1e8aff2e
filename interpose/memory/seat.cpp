#include "interpose/memory/seat.hpp"

#include <mpi.h>

#include "core/error.hpp"

namespace plumb::interpose {

namespace {

Seat taken;
bool finalizing = false;

}  // namespace

const Seat& this_seat() {
  int initialized = 0, finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  if (initialized == 0 || finalized != 0)
    throw Error("device memory must be allocated between MPI_Init and MPI_Finalize");
  return taken;
}

void set_seat(const Seat& seat) {
  taken = seat;
}

void begin_finalizing() {
  finalizing = true;
}

bool is_finalizing() {
  return finalizing;
}

}  // namespace plumb::interpose
