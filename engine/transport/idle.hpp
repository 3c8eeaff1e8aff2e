// How a rank waits that looks for progress itself, where its device's threads run on the same cores.
#pragma once

#include <sched.h>
#include <time.h>

#include <cstdint>

namespace plumb {

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

}  // namespace plumb
