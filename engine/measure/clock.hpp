// Clocks: this process's monotonic clock, and a common clock of all ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "core/seconds.hpp"
#include "world/world.hpp"

namespace plumb {

struct ClockProperties {
  double resolution_s = 0;  // smallest observed step
  double overhead_s = 0;    // of one reading
};
ClockProperties measure_clock();

// A clock common to all ranks: rank 0's. Offsets are estimated in a binary tree of log2(ranks) rounds from the fastest
// ping-pong (Hunold & Carpen-Amarie 2018, HCA3); drift from the change between two estimates.
class CommonClock {
 public:
  explicit CommonClock(World& world) : world_(world), offset_(0), drift_(0) {}

  void synchronise();  // collective; to be repeated about once a second
  // Collective: measures the offsets again and returns the model's errors, by rank, in seconds (rank 0).
  std::vector<double> residuals();

  double now() const { return to_common(now_seconds()); }
  double to_common(double local) const { return local + offset_ + drift_ * (local - reference_); }
  double to_local(double common) const { return (common - offset_ + drift_ * reference_) / (1 + drift_); }
  double offset() const { return offset_; }
  double drift() const { return drift_; }                    // seconds per second
  double age() const { return now_seconds() - reference_; }  // since the last synchronise()

 private:
  struct Estimate {
    double local = 0;   // time on this rank's clock
    double offset = 0;  // common - local
  };
  Estimate estimate();  // collective; {now, 0} on rank 0

  World& world_;
  double offset_, drift_;
  double reference_ = 0;  // local time of the estimate offset_
  bool synchronised_ = false;
};

}  // namespace plumb
