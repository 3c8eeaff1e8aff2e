// The common part of the engine's programs, which differ in the world they start.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "world/world.hpp"

namespace plumb {

struct ProgramKind {
  std::string name;                                                               // "plumb-mpi"
  std::function<std::unique_ptr<World>(int&, char**&, const WorldNeeds&)> start;  // the world
  std::function<WorldInfo()> world_info;                                          // without starting the world
  // Reason, with a remedy, why several threads of a rank cannot communicate at once in that world; "" if they can.
  std::function<std::string(const World&)> threads_problem = {};
};

// Never throws; returns the process's exit status.
int run_program(int argc, char** argv, const ProgramKind& kind);

}  // namespace plumb
