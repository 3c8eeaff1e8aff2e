// Iteration over an exchange's rounds: windows, and the steps in each window.
#pragma once

#include <algorithm>

#include "transport/transport.hpp"
#include "world/watchdog.hpp"

namespace plumb {

// Parameters of the iteration.
struct Walk {
  std::size_t steps = 0;              // per round
  std::uint64_t at_once = 1;          // rounds per step: the window, or more for devices that execute many
  std::uint64_t most = 0;             // rounds for which slots have room
  std::uint64_t sign_of = 1;          // steps between two progress reports to the watchdog
  const char* waited_for = "";        // name of the wait, for the watchdog
  bool blocking = false;              // test_step() waits, so test() executes one step
  std::vector<StepSizes> sizes = {};  // of messages, as compiled
};

// Steps of the exchange, a window at a time.
Walk walk_by_step(const Exchange& exchange, const char* waited_for);
constexpr std::uint64_t all_rounds = ~std::uint64_t{0};
// All steps of several rounds (a multiple of the window, at least one) in one step.
Walk walk_by_rounds(const Exchange& exchange, std::uint64_t rounds, const char* waited_for);

// Base class of exchanges; derived classes implement a step.
class WalkedExchange : public CompiledExchange {
 public:
  explicit WalkedExchange(Walk walk) : walk_(std::move(walk)) {}
  void set_sizes(const std::vector<StepSizes>& sizes) final;
  void start(std::uint64_t first, std::uint64_t count) final;
  void start_after(Queue& queue, std::uint64_t first, std::uint64_t count) final;
  void precede(Queue& queue) final;
  bool test() final;
  void wait() final;

 protected:
  // Starts a step for rounds first .. end - 1 and returns.
  virtual void start_step(std::size_t step, std::uint64_t first, std::uint64_t end) = 0;
  // Returns whether the step is complete, without waiting unless the walk is blocking.
  virtual bool test_step(std::size_t step) = 0;
  // Returns when the step is complete.
  virtual void wait_step(std::size_t step) = 0;
  // Sets the messages' sizes, already checked.
  virtual void resize(const std::vector<StepSizes>& sizes) = 0;
  // Makes later steps follow a queue; false if the host must wait.
  virtual bool follow(Queue&) { return false; }
  // Makes a queue follow the last started step; false if the host must wait.
  virtual bool lead(Queue&) { return false; }
  // Executes all remaining steps.
  virtual void walk_to_end() { walk_to_end_by(*this); }
  // Likewise with the steps of a final class, called without the table of virtual functions.
  template <class Exchange>
  void walk_to_end_by(Exchange& exchange);

 private:
  template <class Exchange>
  void begin_step(Exchange& exchange);
  template <class Exchange>
  void advance(Exchange& exchange);

  Walk walk_;
  std::uint64_t round_ = 0, until_ = 0, end_ = 0;
  std::size_t step_ = 0;
};

template <class Exchange>
void WalkedExchange::walk_to_end_by(Exchange& exchange) {
  for (std::uint64_t steps = 1; round_ < end_; ++steps) {
    exchange.wait_step(step_);
    if (steps == walk_.sign_of) {
      Waiting::progress();
      steps = 0;
    }
    advance(exchange);
  }
}

template <class Exchange>
void WalkedExchange::begin_step(Exchange& exchange) {
  if (step_ == 0) until_ = round_ + std::min(end_ - round_, walk_.at_once);
  exchange.start_step(step_, round_, until_);
}

template <class Exchange>
void WalkedExchange::advance(Exchange& exchange) {
  if (++step_ == walk_.steps) {
    step_ = 0;
    round_ = until_;
    if (round_ >= end_) return;
  }
  begin_step(exchange);
}

// Consecutive slots of a transfer, from the base address of its buffer's view, without division.
class SlotCursor {
 public:
  SlotCursor(std::byte* view, const Slots& slots)
      : view_(view),
        areas_(slots.areas),
        pitch_(slots.pitch),
        stride_(slots.stride),
        first_(slots.first),
        next_(view) {}
  void seek(std::uint64_t round) {
    area_ = (round + first_) % areas_;
    lap_ = view_ + (round + first_) / areas_ * stride_;
    next_ = lap_ + area_ * pitch_;
  }
  std::byte* take() {
    std::byte* const place = next_;
    next_ += pitch_;
    if (++area_ == areas_) {
      area_ = 0;
      next_ = lap_ += stride_;
    }
    return place;
  }

 private:
  std::byte* view_;
  std::uint64_t areas_;
  std::size_t pitch_, stride_;
  std::uint64_t first_, area_ = 0;
  std::byte* lap_ = nullptr;
  std::byte* next_;
};

}  // namespace plumb
