// The world that all N-rank tests share.
#pragma once

#include "world/world.hpp"

namespace plumb {

World& test_world();

}  // namespace plumb
