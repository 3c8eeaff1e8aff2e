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

  // For runtimes with a persistent cache that can tell: whether a program was in it.
  static void tell(bool was_cached) { (was_cached ? cached_programs : compiled_programs) += 1; }
  struct Counts {
    int cached = 0, compiled = 0;
  };
  static Counts counts() { return {cached_programs, compiled_programs}; }

 private:
  static inline thread_local double all_seconds = 0;
  static inline thread_local int cached_programs = 0, compiled_programs = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace plumb
