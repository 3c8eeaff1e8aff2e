// How long GPUs of this host were held back, by their driver's management library, loaded at run time.
#pragma once

#include <map>
#include <string>

namespace plumb {

// Seconds since the driver was loaded that the GPU held back longest spent below its clocks, by cause ("power", "heat",
// "board"); empty without NVIDIA's library, GPUs, or counters.
std::map<std::string, double> throttled_seconds();

}  // namespace plumb
