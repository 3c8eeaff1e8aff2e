// Output of --list, --devices, --transports and --describe, without starting a run.
#pragma once

#include <memory>
#include <string>

#include "main/options.hpp"
#include "main/program.hpp"

namespace plumb {

std::string list_text();
// Returns the exit status: 2 without devices.
int print_devices(bool json);
void print_transports(const ProgramKind& kind, bool json);
// A world with kind and size only, to plan a run without starting it.
std::unique_ptr<World> make_planned_world(WorldInfo info, int ranks);
Json description(const ProgramKind& kind, const EngineOptions& options);

}  // namespace plumb
