// How a rank waits that looks for progress itself, where its device's threads run on the same cores.
#pragma once

#include <sched.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

#include "device/device.hpp"

namespace plumb {

// An OpenCL device that is no GPU works with threads of this process: so do CPUs, and emulated FPGAs.
inline bool has_threads_here(const DeviceInfo& info) {
  return info.runtime == "opencl" && info.type != "gpu";
}

// Messages as short as this come by themselves (MPI libraries send those below 4 KiB without asking the receiver); with
// longer ones the receiver's MPI has work to do, and no core to give away.
constexpr std::size_t short_message = 2048;

class Idle {
 public:
  // shares_cores: false for devices that need no core to work; then a look costs nothing.
  explicit Idle(bool shares_cores) : shares_cores_(shares_cores) {}
  void moved() { looks_ = 0; }
  // Nothing has moved: lets others have the core, and sleeps a little when that has gone on for long, because who only
  // yields keeps a core busy that a slow neighbour may need.
  void look() {
    if (!shares_cores_) return;
    if (++looks_ < looks_before_sleep) {
      sched_yield();
      return;
    }
    const timespec little{0, 20000};
    nanosleep(&little, nullptr);
  }

 private:
  static constexpr std::uint32_t looks_before_sleep = 2000;  // some hundred microseconds

  bool shares_cores_;
  std::uint32_t looks_ = 0;
};

// Waits for a queue by looking at it, which is sooner than to be woken.
inline void wait_for(Queue& queue, const DeviceInfo& info) {
  Idle idle(has_threads_here(info));
  while (!queue.finished()) idle.look();
}

}  // namespace plumb
