// Repetitions start together: ranks share a clock and start at an agreed time; a late start is told, to be redone.
#pragma once

#include <cstdint>
#include <string>

#include "measure/clock.hpp"
#include "world/world.hpp"

namespace plumb {

class SynchronisedStart {
 public:
  SynchronisedStart(World& world, bool by_clock, bool shared_cores);

  // Collective, before each repetition. `problem` is this rank's reason why it cannot start ("" = it can); returns the
  // first rank's problem, and then nobody starts. Otherwise returns "" at the agreed time.
  std::string start(const std::string& problem);
  bool late() const { return late_; }  // this rank came after the agreed time
  // Collective: rank 0 tells whether any rank was late, so that the next start leaves more time.
  void adapt(bool any_late);

  CommonClock& clock() { return clock_; }
  std::uint64_t starts() const { return starts_; }

 private:
  void wait_until(double local);

  World& world_;
  bool by_clock_;
  bool shared_cores_;  // waiting must give way to other ranks
  CommonClock clock_;
  double margin_ = 20e-6;
  bool late_ = false;
  std::uint64_t starts_ = 0;
};

}  // namespace plumb
