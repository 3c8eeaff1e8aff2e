// Time: a monotonic clock of this process, and a common clock of all ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "core/seconds.hpp"
#include "world/world.hpp"

namespace plumb {

struct ClockProperties {
  double resolution_s = 0;  // smallest step seen
  double overhead_s = 0;    // of one reading
};
ClockProperties measure_clock();

// A clock that all ranks share: rank 0's. Offsets are estimated in a binary tree, log2(ranks) rounds deep, from the
// ping-pong of least round-trip time (Hunold & Carpen-Amarie 2018, HCA3); drift from the change between two estimates.
class CommonClock {
 public:
  explicit CommonClock(World& world) : world_(world), offset_(0), drift_(0) {}

  void synchronise();  // collective; call again about once a second
  // Collective: measures the offsets again and compares with what the model says now. On rank 0: by rank, in seconds.
  std::vector<double> residuals();

  double now() const { return to_common(now_seconds()); }
  double to_common(double local) const { return local + offset_ + drift_ * (local - reference_); }
  double to_local(double common) const { return (common - offset_ + drift_ * reference_) / (1 + drift_); }
  double offset() const { return offset_; }
  double drift() const { return drift_; }                    // seconds a second
  double age() const { return now_seconds() - reference_; }  // since the last synchronise()

 private:
  struct Estimate {
    double local = 0;   // when, on this rank's clock
    double offset = 0;  // common - local
  };
  Estimate estimate();  // collective; {now, 0} on rank 0

  World& world_;
  double offset_, drift_;
  double reference_ = 0;  // local time at which offset_ holds
  bool synchronised_ = false;
};

}  // namespace plumb
