// When a case has been repeated often enough.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace plumb {

// How often a case is repeated.
struct Policy {
  std::uint64_t fixed = 0;  // exactly so many; 0 = adaptive
  std::uint64_t minimum = 10;
  std::uint64_t maximum = 1000;
  double time_limit = 1.0;   // seconds for one case, everything included
  double confidence = 0.02;  // the interval's half width over the median at which it is narrow enough
};

struct Stop {
  std::string reason;                // confidence, repetitions, time, fixed, once
  std::optional<double> half_width;  // reached, over the median
};

// Decides after each repetition, from the slowest rank's samples so far (seconds) and the seconds spent on the case.
// None = go on. The minimum of repetitions goes before the time limit, but not before `patience` times the limit: then
// `fewest` are enough. Looking after every repetition makes the interval a little too narrow (sequential testing), so
// it is looked at only when the number of samples has grown by a tenth.
class StoppingRule {
 public:
  static constexpr double patience = 10;
  static constexpr std::uint64_t fewest = 3;

  StoppingRule(const Policy& policy, bool once) : policy_(policy), once_(once) {}
  std::optional<Stop> decide(std::span<const double> samples, double elapsed);

 private:
  Policy policy_;
  bool once_;
  std::uint64_t next_look_ = 0;
};

}  // namespace plumb
