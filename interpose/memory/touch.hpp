// A kernel that does nothing to a buffer but count that it ran.
#pragma once

#include <cstdint>

#include "interpose/memory/devices.hpp"

namespace plumb::interpose {

// Runs the kernel with this memory as its argument, to the end, so that the runtime must take the memory for changed.
void touch(const DeviceMemory& memory);
// How often it has run on a device for this process, by its own count in the device's memory.
std::uint64_t touches_of(OpenDevice& device);

}  // namespace plumb::interpose
