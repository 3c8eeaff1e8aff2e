// Groups ranks by host.
#pragma once

#include <string>
#include <vector>

#include "world/world.hpp"

namespace plumb {

// Identifier of each rank's host, the same list on all ranks: the running system's boot id, and the host name, as
// containers of one system may have different names. Collective.
std::vector<std::string> hosts_of_ranks(World& world);

}  // namespace plumb
