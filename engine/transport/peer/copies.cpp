// peer, host-buffered: the host has its device copy into the neighbour's slot, when that rank has said that it may.
#include <atomic>

#include "transport/idle.hpp"
#include "transport/peer/peer.hpp"
#include "world/watchdog.hpp"

namespace plumb::peer {

namespace {

constexpr std::size_t line = 128;  // bytes; counters are on cache lines of their own

// Counters of one transfer in memory of the host that both ranks see: rounds for which the receiver's slot is free, and
// rounds whose message is in it.
struct Counters {
  BufferView view;
  std::atomic_ref<std::uint64_t> free() const { return counter(0); }
  std::atomic_ref<std::uint64_t> arrived() const { return counter(line); }

 private:
  std::atomic_ref<std::uint64_t> counter(std::size_t offset) const {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(view.host_pointer() + offset));
  }
};

struct Outgoing {
  std::vector<BufferView> from, to;
  Counters counters;
  std::unique_ptr<Queue> queue;
  std::uint64_t begun = 0, done = 0;  // messages ever
};

struct Incoming {
  Counters counters;
  std::uint64_t expected = 0;  // messages ever
};

struct CopyStep {
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
};

class CopyExchange : public CompiledExchange {
 public:
  CopyExchange(const Exchange& exchange, std::unique_ptr<Neighbours> neighbours)
      : neighbours_(std::move(neighbours)),
        window_(exchange.window),
        idle_(neighbours_->device().info().type != "gpu") {
    for (const Step& step : exchange.steps) steps_.push_back(compile(step));
  }

  ~CopyExchange() override {
    for (CopyStep& step : steps_) step.sends.clear();
    neighbours_.reset();
  }
  CopyExchange(const CopyExchange&) = delete;
  CopyExchange& operator=(const CopyExchange&) = delete;

  void start(std::uint64_t first, std::uint64_t count) override {
    round_ = first;
    end_ = steps_.empty() ? first : first + count;
    step_ = 0;
    if (round_ < end_) begin_step();
  }

  bool test() override {
    while (round_ < end_) {
      if (!progress()) return false;
      if (++step_ == steps_.size()) {
        step_ = 0;
        round_ += window_;
        if (round_ >= end_) break;
      }
      begin_step();
    }
    return true;
  }

  void wait() override {
    const Waiting waiting("copies into a neighbour's memory");
    std::uint64_t seen = round_;
    while (!test()) {
      if (round_ != seen) {
        Waiting::progress();
        idle_.moved();
      }
      seen = round_;
      idle_.look();
    }
  }

 private:
  CopyStep compile(const Step& step) {
    CopyStep result;
    std::vector<std::string> offers;
    for (std::size_t i = 0; i < step.receives.size(); ++i) {
      counters_.push_back(allocate_host(neighbours_->device(), 2 * line, true));
      Counters counters{whole(*counters_.back())};
      counters.free().store(0);
      counters.arrived().store(0);
      result.receives.push_back({counters});
      offers.push_back(neighbours_->offer(counters.view));
    }
    const auto remote = remote_slots(step, *neighbours_);
    const auto heard = trade(neighbours_->world(), step.receives, offers, step.sends);
    for (std::size_t i = 0; i < step.sends.size(); ++i)
      result.sends.push_back(
          {step.sends[i].slots, remote[i], {neighbours_->open(heard[i])}, neighbours_->device().make_queue()});
    return result;
  }

  void begin_step() {
    for (Incoming& receive : steps_[step_].receives) {
      receive.expected += window_;
      receive.counters.free().store(receive.expected, std::memory_order_release);
    }
    for (Outgoing& send : steps_[step_].sends) send.done += window_;
  }

  // True when the step is complete.
  bool progress() {
    bool complete = true;
    for (Outgoing& send : steps_[step_].sends) complete = progress(send) && complete;
    for (const Incoming& receive : steps_[step_].receives)
      complete = receive.counters.arrived().load(std::memory_order_acquire) >= receive.expected && complete;
    return complete;
  }

  // A window's copies go together, once the receiver's slots are free.
  bool progress(Outgoing& send) const {
    if (send.begun < send.done) {
      if (send.counters.free().load(std::memory_order_acquire) < send.done) return false;
      for (std::uint64_t i = 0; i < window_; ++i) {
        const std::uint64_t slot = (round_ + i) % send.from.size();
        send.queue->enqueue_copy(send.from[slot], send.to[slot]);
      }
      send.begun = send.done;
    }
    if (!send.queue->finished()) return false;
    send.counters.arrived().store(send.done, std::memory_order_release);
    return true;
  }

  std::unique_ptr<Neighbours> neighbours_;
  std::vector<std::unique_ptr<Buffer>> counters_;
  std::vector<CopyStep> steps_;
  std::uint64_t window_;
  Idle idle_;
  std::uint64_t round_ = 0, end_ = 0;
  std::size_t step_ = 0;
};

}  // namespace

std::unique_ptr<CompiledExchange> compile_copies(const Exchange& exchange, std::unique_ptr<Neighbours> neighbours) {
  return std::make_unique<CopyExchange>(exchange, std::move(neighbours));
}

}  // namespace plumb::peer
