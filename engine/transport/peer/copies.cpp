// peer, host-buffered: the host copies into the neighbour's slot, by its device, once the neighbour has freed the slot.
#include <atomic>

#include "transport/idle.hpp"
#include "transport/peer/peer.hpp"
#include "transport/walk.hpp"
#include "world/watchdog.hpp"

namespace plumb::peer {

namespace {

constexpr std::size_t line = 128;  // bytes; each counter has its own cache line

// Counters of one transfer in shared host memory: rounds whose receiving slot is free, and rounds whose message has
// arrived.
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
  Slots from, to;
  Counters counters;
  std::unique_ptr<Queue> queue;
  std::uint64_t begun = 0, done = 0;  // messages, over the lifetime
};

struct Incoming {
  Counters counters;
  std::uint64_t expected = 0;  // messages, over the lifetime
};

struct CopyStep {
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
};

class CopyExchange : public WalkedExchange {
 public:
  CopyExchange(const Exchange& exchange, std::unique_ptr<Neighbours> neighbours)
      : WalkedExchange(walk_by_step(exchange, "copies into a neighbour's memory")),
        neighbours_(std::move(neighbours)),
        idle_(neighbours_->device().info().type != "gpu") {
    for (const Step& step : exchange.steps) steps_.push_back(compile(step));
  }

  ~CopyExchange() override {
    for (CopyStep& step : steps_) step.sends.clear();
    neighbours_.reset();
  }
  CopyExchange(const CopyExchange&) = delete;
  CopyExchange& operator=(const CopyExchange&) = delete;

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

  void start_step(std::size_t step, std::uint64_t first, std::uint64_t end) override {
    first_ = first;
    end_ = end;
    for (Incoming& receive : steps_[step].receives) {
      receive.expected += end - first;
      receive.counters.free().store(receive.expected, std::memory_order_release);
    }
    for (Outgoing& send : steps_[step].sends) send.done += end - first;
  }

  bool test_step(std::size_t step) override {
    bool complete = true;
    // All begin before any is looked at, so that a sleeping device thread is woken once: two took twice as long.
    for (Outgoing& send : steps_[step].sends) begin(send);
    for (Outgoing& send : steps_[step].sends) complete = is_sent(send) && complete;
    for (const Incoming& receive : steps_[step].receives)
      complete = receive.counters.arrived().load(std::memory_order_acquire) >= receive.expected && complete;
    return complete;
  }

  void wait_step(std::size_t step) override {
    while (!test_step(step)) idle_.look();
    idle_.moved();
  }

  void resize(const std::vector<StepSizes>& sizes) override {
    for (std::size_t i = 0; i < steps_.size(); ++i)
      for (std::size_t k = 0; k < steps_[i].sends.size(); ++k)
        steps_[i].sends[k].from.view.size = steps_[i].sends[k].to.view.size = sizes[i].sends[k];
  }

  // Copies of a window are enqueued together, once the receiver's slots are free.
  void begin(Outgoing& send) const {
    if (send.begun == send.done || send.counters.free().load(std::memory_order_acquire) < send.done) return;
    for (std::uint64_t round = first_; round < end_; ++round)
      send.queue->enqueue_copy(send.from.at(round), send.to.at(round));
    send.begun = send.done;
  }

  static bool is_sent(Outgoing& send) {
    if (send.begun < send.done || !send.queue->finished()) return false;
    send.counters.arrived().store(send.done, std::memory_order_release);
    return true;
  }

  std::unique_ptr<Neighbours> neighbours_;
  std::vector<std::unique_ptr<Buffer>> counters_;
  std::vector<CopyStep> steps_;
  Idle idle_;
  std::uint64_t first_ = 0, end_ = 0;  // rounds in progress
};

}  // namespace

std::unique_ptr<CompiledExchange> compile_copies(const Exchange& exchange, std::unique_ptr<Neighbours> neighbours) {
  return std::make_unique<CopyExchange>(exchange, std::move(neighbours));
}

}  // namespace plumb::peer
