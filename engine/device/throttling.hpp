// Throttled time of this host's GPUs, from their driver's management library, loaded at run time.
#pragma once

#include <map>
#include <string>

namespace plumb {

// Seconds of throttling since the driver was loaded, of the most throttled GPU, by cause ("power", "heat",
// "board"); empty without NVIDIA's library, GPUs, or counters.
std::map<std::string, double> throttled_seconds();

}  // namespace plumb
