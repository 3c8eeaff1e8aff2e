// What the program can do, told without starting anything: --list, --devices, --transports, --describe.
#pragma once

#include <string>

#include "main/options.hpp"
#include "main/program.hpp"

namespace plumb {

std::string list_text();
// Returns the exit status: 2 when there is no device at all.
int print_devices(bool json);
void print_transports(const ProgramKind& kind, bool json);
Json description(const ProgramKind& kind, const EngineOptions& options);

}  // namespace plumb
