// Waiting by polling, on ranks whose device's threads share the rank's cores.
#pragma once

#include <sched.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

#include "device/opencl_c.hpp"

namespace plumb {

// Devices of OpenCL drivers other than GPUs use threads of this process (CPUs and emulated FPGAs), as does HLS's C
// simulation.
inline bool has_threads_here(const DeviceInfo& info) {
  return (has_opencl_driver(info) && info.type != "gpu") || info.runtime == "hls";
}

// Messages up to this size arrive without the receiver's help (MPI libraries send those below 4 KiB eagerly); for
// longer ones the receiver's MPI needs the core.
constexpr std::size_t short_message = 2048;

class Idle {
 public:
  // shares_cores: false for devices that need no core; then polling costs nothing.
  explicit Idle(bool shares_cores) : shares_cores_(shares_cores) {}
  void moved() { looks_ = 0; }
  // Called after a poll without progress: yields the core, and sleeps briefly after many calls, as yielding alone keeps
  // a core busy that a slow neighbour may need.
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

// Waits for a queue by polling, which is faster than being woken.
inline void wait_for(Queue& queue, const DeviceInfo& info) {
  Idle idle(has_threads_here(info));
  while (!queue.finished()) idle.look();
}

}  // namespace plumb
