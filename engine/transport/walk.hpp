// The one walk through an exchange's rounds: window after window, and in each of them step after step.
#pragma once

#include "transport/transport.hpp"

namespace plumb {

// The way that is walked.
struct Walk {
  std::size_t steps = 0;              // of a round
  std::uint64_t at_once = 1;          // rounds of a step: the window, or more where the device is given many
  std::uint64_t most = 0;             // rounds for which slots have room
  std::uint64_t sign_of = 1;          // steps after which the watchdog hears that there is progress
  const char* waited_for = "";        // in the watchdog's words
  bool blocking = false;              // test_step() waits, so test() does one step at a time
  std::vector<StepSizes> sizes = {};  // of messages, as compiled
};

// Steps as the exchange has them, a window at a time.
Walk walk_by_step(const Exchange& exchange, const char* waited_for);
constexpr std::uint64_t all_rounds = ~std::uint64_t{0};
// All steps of so many rounds (as many windows as they hold, at least one) in one.
Walk walk_by_rounds(const Exchange& exchange, std::uint64_t rounds, const char* waited_for);

// An exchange that is walked: what derives from it says what a step is.
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
  // True when the step is complete; waits for nobody, unless the walk is blocking.
  virtual bool test_step(std::size_t step) = 0;
  // Returns when it is.
  virtual void wait_step(std::size_t step) = 0;
  // Messages have these sizes from now on; they were checked.
  virtual void resize(const std::vector<StepSizes>& sizes) = 0;
  // Has what is started from now on follow a queue; false where that takes the host.
  virtual bool follow(Queue&) { return false; }
  // Has a queue follow the last step, which is started; false where that takes the host.
  virtual bool lead(Queue&) { return false; }

 private:
  void begin_step();
  void advance();

  Walk walk_;
  std::uint64_t round_ = 0, until_ = 0, end_ = 0;
  std::size_t step_ = 0;
};

// The slots of a transfer one after the other, from the base address of its buffer's view, without a division.
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
