// All-to-all (MPI_Alltoall) on buffer views.
#pragma once

#include <vector>

#include "transport/transport.hpp"

namespace plumb {

// This rank's part: view to[r] is sent to rank r, view from[r] received from it, including this rank itself. In step d
// each rank sends to the rank d places on, on lane d. Throws Error unless there is one view of each kind per rank.
Exchange all_to_all(const std::vector<BufferView>& to, const std::vector<BufferView>& from, const World& world);

}  // namespace plumb
