// What this process learns about itself in MPI_Init.
#pragma once

#include "interpose/memory/devices.hpp"

namespace plumb::interpose {

// Throws Error before MPI_Init and after MPI_Finalize: which device a rank gets depends on the ranks of its host.
const Seat& this_seat();
// MPI_Finalize has begun: communicators are not to be freed any more.
bool is_finalizing();

}  // namespace plumb::interpose
