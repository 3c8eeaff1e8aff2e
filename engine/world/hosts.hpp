// Which ranks run on one host.
#pragma once

#include <string>
#include <vector>

#include "world/world.hpp"

namespace plumb {

// Of each rank, the same on all ranks: what tells its host from all others (a running system's own number, and the
// name, because containers of one system may have names of their own). Collective.
std::vector<std::string> hosts_of_ranks(World& world);

}  // namespace plumb
