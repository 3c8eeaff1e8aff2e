// Requests that the program has freed under way (MPI 3.1, section 3.7.3): what MPI still reads stays until it is sent.
#pragma once

#include "interpose/staging/requests.hpp"

namespace plumb::interpose {

// request: under way, and its call brings nothing to the device.
void keep_freed(Request request);
// Ends those that are complete; until_all: waits for all.
void end_freed(bool until_all);

}  // namespace plumb::interpose
