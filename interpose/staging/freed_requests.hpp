// Requests that the program has freed before they were complete (MPI 3.1, section 3.7.3): memory that MPI reads is kept
// until it is sent.
#pragma once

#include "interpose/staging/requests.hpp"

namespace plumb::interpose {

// request: incomplete, of a call that receives nothing for a device.
void keep_freed(Request request);
// Destroys the complete ones; until_all: waits for all.
void end_freed(bool until_all);

}  // namespace plumb::interpose
