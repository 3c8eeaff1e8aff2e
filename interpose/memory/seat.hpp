// The place of this process among the ranks, and whether MPI is initialised.
#pragma once

namespace plumb::interpose {

// ranks: of MPI_COMM_WORLD; local_rank: among the ranks of this host.
struct Seat {
  int rank = 0, ranks = 1, local_rank = 0;
};

// Throws Error before MPI_Init and after MPI_Finalize: the device of a rank depends on the ranks of its host.
const Seat& this_seat();

// Called by MPI_Init and MPI_Finalize.
void set_seat(const Seat& seat);
void begin_finalizing();

// True once MPI_Finalize has begun: communicators must not be freed any more.
bool is_finalizing();

}  // namespace plumb::interpose
