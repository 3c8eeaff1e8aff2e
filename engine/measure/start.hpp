// Synchronised start of repetitions at an agreed time of the common clock; late starts are reported, to be redone.
#pragma once

#include <cstdint>
#include <string>

#include "measure/clock.hpp"
#include "world/world.hpp"

namespace plumb {

class SynchronisedStart {
 public:
  SynchronisedStart(World& world, bool by_clock, bool shared_cores);

  // Collective, before each repetition. `problem` is this rank's reason for not starting ("" = none). Returns the first
  // rank's problem, and no rank starts; otherwise returns "" at the agreed time.
  std::string start(const std::string& problem);
  bool late() const { return late_; }  // this rank arrived after the agreed time
  // Collective: whether any rank was late (by rank 0), so that the next start allows more time.
  void adapt(bool any_late);

  CommonClock& clock() { return clock_; }
  std::uint64_t starts() const { return starts_; }

 private:
  void wait_until(double local);

  World& world_;
  bool by_clock_;
  bool shared_cores_;  // waiting yields to other ranks
  CommonClock clock_;
  double margin_ = 20e-6;
  bool late_ = false;
  std::uint64_t starts_ = 0;
};

}  // namespace plumb
