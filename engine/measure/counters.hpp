// Events of this process that the kernel counts, in hardware and software (Linux, perf_event_open).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

class Counters {
 public:
  Counters() = default;
  // Names of perf ("cycles", "page-faults") or of PAPI's ("PAPI_TOT_CYC"). Threads started later are counted as well.
  // Throws Unsupported where the kernel counts no such event.
  explicit Counters(const std::vector<std::string>& names);
  ~Counters();
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  // Throws UsageError for a name that is unknown.
  static void check(const std::vector<std::string>& names);
  void start() const;
  // Since start(), in the order of names; scaled where the hardware counted only part of the time.
  std::vector<double> stop() const;

 private:
  std::vector<int> files_;
};

}  // namespace plumb
