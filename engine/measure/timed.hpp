// A benchmark's reports on one sample: phases, laps, pauses, tallies. One object per thread. Memory is allocated before
// the clock starts, and nothing is looked up by name while it runs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/clock.hpp"

namespace plumb {

// Begin and end of one interval of a phase, on this process's clock (now_seconds()).
struct Span {
  double begin = 0, end = 0;
};

// Plan of a sample of a case, or of a group's set-up.
struct TimedPlan {
  std::uint64_t count = 1;               // operations
  std::vector<std::string> phases = {};  // of the sample's parts
  bool laps = false;                     // record the time of each operation
  unsigned threads = 1;                  // threads that use Timed
};

class Timed {
 public:
  explicit Timed(TimedPlan plan);

  std::uint64_t count() const { return plan_.count; }

  // A named part of a sample, identified by number. Phases may repeat, overlap, and be absent on some ranks or in some
  // repetitions.
  std::size_t number_of(const std::string& phase) const;  // throws Error for an undeclared phase
  void begin(std::size_t phase);                          // throws Error if it has begun
  void end(std::size_t phase);                            // throws Error if it has not begun
  bool is_open(std::size_t phase) const { return lives_.at(phase).begun != 0; }
  // A phase that ends with the scope unless ended before.
  class Phase {
   public:
    Phase(Timed& timed, std::size_t number) : timed_(timed), number_(number) { timed_.begin(number_); }
    ~Phase() {
      if (timed_.is_open(number_)) timed_.end(number_);
    }
    Phase(const Phase&) = delete;
    Phase& operator=(const Phase&) = delete;

   private:
    Timed& timed_;
    std::size_t number_;
  };
  Phase phase(std::size_t number) { return {*this, number}; }

  // Ends a lap, if the plan has laps; it begins at the end of the previous lap, the first one with the sample. Costs a
  // clock reading and a store. Laps beyond the number of operations are dropped.
  void lap() {
    if (laps_.size() < laps_.capacity()) laps_.push_back(now_seconds());
  }

  // Excludes time from the sample, such as restoring an input between operations. The record holds the total.
  class Pause {
   public:
    explicit Pause(Timed& timed) : timed_(timed), begin_(now_seconds()) {}
    ~Pause() { timed_.pause(begin_, now_seconds()); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Timed& timed_;
    double begin_;
  };

  // Adds work known only afterwards.
  void tally(const std::string& name, double value) { tallies_[name] += value; }
  // Sets the device's time of this sample, in addition to the host's.
  void device_seconds(double seconds) { device_seconds_ += seconds; }
  // Sets the sample's time, if measured elsewhere: before the engine could measure.
  void instead(double seconds) { instead_ = seconds; }

  // The object of thread `index`, below the plan's threads; 0 is this one. For that thread only.
  Timed& thread(unsigned index) { return index == 0 ? *this : *others_.at(index - 1); }

  // For the engine, after the sample.
  const std::optional<double>& instead() const { return instead_; }
  const std::map<std::string, double>& tallies() const { return tallies_; }
  double device_seconds() const { return device_seconds_; }
  double paused_seconds() const { return paused_; }
  // Intervals of a phase, of all threads, ordered by their ends.
  std::vector<Span> spans(std::size_t phase) const;
  // Seconds of each operation of all threads, without pauses. The first lap begins with the sample.
  std::vector<double> laps(double sample_begin) const;
  const TimedPlan& plan() const { return plan_; }

 private:
  struct Life {
    double begun = 0;  // 0: not begun
    std::vector<Span> spans;
  };
  void pause(double begin, double end);

  TimedPlan plan_;
  std::vector<Life> lives_;  // by number of the phase
  std::vector<double> laps_;
  std::vector<Span> pauses_;
  std::map<std::string, double> tallies_;
  double device_seconds_ = 0, paused_ = 0;
  std::optional<double> instead_;
  std::vector<std::unique_ptr<Timed>> others_;  // of the other threads
};

}  // namespace plumb
