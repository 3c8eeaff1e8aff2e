// Time on this process's monotonic clock.
#pragma once

#include <chrono>

namespace plumb {

inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace plumb
