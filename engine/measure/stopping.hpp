// The stopping rule of a case's repetitions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace plumb {

// Parameters of the rule.
struct Policy {
  std::uint64_t fixed = 0;  // number of repetitions; 0 = adaptive
  std::uint64_t minimum = 10;
  std::uint64_t maximum = 1000;
  double time_limit = 1.0;   // seconds per case, everything included
  double confidence = 0.02;  // sufficient half width of the interval over the median
  double least_seconds = 0;  // on a case, before its interval suffices
};

struct Stop {
  std::string reason;                // confidence, repetitions, time, fixed, once
  std::optional<double> half_width;  // reached half width over the median
};

// Called after each repetition with the slowest rank's samples so far (seconds) and the seconds spent on the case. None
// = continue. The minimum of repetitions takes precedence over the time limit, up to `patience` times the limit, if
// `fewest` suffice. Testing after every repetition would narrow the interval (sequential testing), so it is tested only
// when the number of samples has grown by a tenth. The interval takes samples as independent, but a machine's slow
// moments last for tenths of seconds, and all samples of a short case may lie in one: hence `least_seconds`.
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
