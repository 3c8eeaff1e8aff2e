// What a record says of times that are of no board (docs/architecture.md, "Emulated hardware").
#pragma once

#include <string>

#include "core/json.hpp"

namespace plumb {

// Marks each time and rate in it: whatever has a unit, or is seconds by its name.
void mark_emulated(Json& value);

// Records before layout 1.4.0 have it in their transport, or in their devices' platforms alone.
void lift_emulated(Json& record);

// "# emulated: ...", for layouts with comments; "" if nothing was.
std::string emulated_comment(const Json& record);

}  // namespace plumb
