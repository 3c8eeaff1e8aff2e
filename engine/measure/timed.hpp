// What a benchmark tells the engine of one sample while it runs: phases, laps, pauses, tallies. One object a thread.
// All memory is there before the clock starts, and nothing is looked up by name while it runs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/clock.hpp"

namespace plumb {

// Begin and end of one life of a phase, on this process's clock (now_seconds()).
struct Span {
  double begin = 0, end = 0;
};

// What a sample is asked for; a case's, or for setting up a group the group's.
struct TimedPlan {
  std::uint64_t count = 1;               // operations
  std::vector<std::string> phases = {};  // names of its parts
  bool laps = false;                     // the time of each operation is wanted
  unsigned threads = 1;                  // that tell something
};

class Timed {
 public:
  explicit Timed(TimedPlan plan);

  std::uint64_t count() const { return plan_.count; }

  // A named part of a sample, told by its number. It may begin and end several times, overlap with others, and be
  // missing on some ranks or in some repetitions.
  std::size_t number_of(const std::string& phase) const;  // throws Error when the plan has none of that name
  void begin(std::size_t phase);                          // throws Error when it has begun
  void end(std::size_t phase);                            // throws Error when it has not, or has ended
  bool is_open(std::size_t phase) const { return lives_.at(phase).begun != 0; }
  // A phase that ends with the scope, where it has not ended before.
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

  // The end of an operation, where laps are wanted (else nothing); a lap begins where the one before ended, the first
  // where the sample does. A reading of the clock and a store. More laps than operations: those are not kept.
  void lap() {
    if (laps_.size() < laps_.capacity()) laps_.push_back(now_seconds());
  }

  // Time that does not belong to the sample, such as restoring an input between operations. The record says how much.
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

  // Work known only afterwards.
  void tally(const std::string& name, double value) { tallies_[name] += value; }
  // The device's own time for this sample, beside the host's.
  void device_seconds(double seconds) { device_seconds_ += seconds; }
  // The sample is this time instead, taken where it was run: before anything could be measured.
  void instead(double seconds) { instead_ = seconds; }

  // The object of thread `index`, below the plan's threads; 0 is this one. Used by that thread alone.
  Timed& thread(unsigned index) { return index == 0 ? *this : *others_.at(index - 1); }

  // For the engine, when the sample is over.
  const std::optional<double>& instead() const { return instead_; }
  const std::map<std::string, double>& tallies() const { return tallies_; }
  double device_seconds() const { return device_seconds_; }
  double paused_seconds() const { return paused_; }
  // Lives of a phase, of all threads, in the order in which they ended.
  std::vector<Span> spans(std::size_t phase) const;
  // Seconds of each operation of all threads, a pause taken out of the lap that it lies in. The first begins
  // with the sample.
  std::vector<double> laps(double sample_begin) const;
  const TimedPlan& plan() const { return plan_; }

 private:
  struct Life {
    double begun = 0;  // 0: it has not
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
