// A board's bitstream, given to its device before any buffer is allocated: it defines the memory banks.
#pragma once

#include <functional>
#include <vector>

#include "core/registry.hpp"
#include "device/device.hpp"

namespace plumb {

// Registered under the name of the runtime of `device`. May throw Error or Unsupported. Ignores files that are not
// bitstreams.
using TakeBoardImage = std::function<void(Device& device, const std::vector<char>& image)>;

}  // namespace plumb
