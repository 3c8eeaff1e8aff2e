// A GPU's link to the host, before it is measured.
#pragma once

#include "device/device.hpp"

namespace plumb {

inline bool has_link(const DeviceInfo& info) {
  return info.type == "gpu";
}

// A link is slow until it has moved data for some milliseconds, after a pause in which the host has written them. On an
// H100 three transfers of 16 MiB took 1.5 to 2.7 ms in samples of 3 to 6 of them, 1.1 to 1.3 ms after one such
// transfer, and 0.95 to 1.02 ms in samples of 10 after four.
constexpr int transfers_before_measuring = 4;

}  // namespace plumb
