// Time that this process has spent building programs for its devices.
#pragma once

#include <chrono>

namespace plumb {

// In Device::build() of a runtime that compiles: adds the time until its destruction.
class TimedBuild {
 public:
  TimedBuild() = default;
  ~TimedBuild() { all_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  TimedBuild(const TimedBuild&) = delete;
  TimedBuild& operator=(const TimedBuild&) = delete;

  // Of the calling thread.
  static double seconds() { return all_seconds; }

 private:
  static inline thread_local double all_seconds = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace plumb
