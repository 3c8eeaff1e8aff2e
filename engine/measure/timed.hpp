// What a benchmark sees of its own timing: how many operations to do, named phases, tallies.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "measure/clock.hpp"

namespace plumb {

class Timed {
 public:
  explicit Timed(std::uint64_t count) : count_(count) {}
  std::uint64_t count() const { return count_; }

  // A named part of the repetition; its time is added up over the scope's lives. Phases may overlap.
  class Phase {
   public:
    Phase(Timed& timed, std::string name) : timed_(timed), name_(std::move(name)), begin_(now_seconds()) {}
    ~Phase() { timed_.phases_[name_] += now_seconds() - begin_; }
    Phase(const Phase&) = delete;
    Phase& operator=(const Phase&) = delete;

   private:
    Timed& timed_;
    std::string name_;
    double begin_;
  };
  Phase phase(std::string name) { return Phase(*this, std::move(name)); }

  // Work known only afterwards.
  void tally(const std::string& name, double value) { tallies_[name] += value; }
  // The device's own time for this sample, beside the host's.
  void device_seconds(double seconds) { device_seconds_ += seconds; }

  // The sample is this time instead, taken where it was run: before anything could be measured.
  void instead(double seconds) { instead_ = seconds; }

  const std::optional<double>& instead() const { return instead_; }
  const std::map<std::string, double>& phases() const { return phases_; }
  const std::map<std::string, double>& tallies() const { return tallies_; }
  double device_seconds() const { return device_seconds_; }

 private:
  std::uint64_t count_;
  std::map<std::string, double> phases_;
  std::map<std::string, double> tallies_;
  double device_seconds_ = 0;
  std::optional<double> instead_;
};

}  // namespace plumb
