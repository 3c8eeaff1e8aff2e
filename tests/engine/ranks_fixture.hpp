// The world that all N-rank tests share, and how a world's main runs them.
#pragma once

#include <memory>

#include "world/world.hpp"

namespace plumb {

World& test_world();
// Runs all tests in `world`, which ends with them; returns the exit status.
int run_rank_tests(int argc, char** argv, std::unique_ptr<World> world);

}  // namespace plumb
