// What the program can do, told without starting anything: --list, --devices, --transports, --describe.
#pragma once

#include <memory>
#include <string>

#include "main/options.hpp"
#include "main/program.hpp"

namespace plumb {

std::string list_text();
// Returns the exit status: 2 when no device was found.
int print_devices(bool json);
void print_transports(const ProgramKind& kind, bool json);
// A world that only tells its kind and size: to plan a run that is not started.
std::unique_ptr<World> make_planned_world(WorldInfo info, int ranks);
Json description(const ProgramKind& kind, const EngineOptions& options);

}  // namespace plumb
