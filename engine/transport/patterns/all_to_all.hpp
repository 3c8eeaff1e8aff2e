// Each rank with each: what MPI calls alltoall, on buffer views.
#pragma once

#include <vector>

#include "transport/transport.hpp"

namespace plumb {

// This rank's part: view to[r] goes to rank r, view from[r] comes from there; own bytes are sent to this rank itself.
// In step d each rank sends to the one d places on, on lane d. Throws Error unless there is a view each way for each
// rank.
Exchange all_to_all(const std::vector<BufferView>& to, const std::vector<BufferView>& from, const World& world);

}  // namespace plumb
