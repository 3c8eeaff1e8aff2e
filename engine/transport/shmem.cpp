// Transport `shmem`: host memory by OpenSHMEM puts.
#include <algorithm>
#include <vector>

#include "transport/idle.hpp"
#include "transport/shmem_messages.hpp"
#include "transport/transport.hpp"
#include "world/watchdog.hpp"

namespace plumb {

namespace {

const TransportInfo shmem_transport_info{"shmem", "OpenSHMEM puts between host memories, without a device's memory",
                                         "host", "buffered"};

// A transfer with its slots as addresses, and the slot that is next.
struct Message {
  explicit Message(const Transfer& transfer)
      : peer(transfer.peer), lane(transfer.lane), size(transfer.slots.front().size) {
    for (const BufferView& view : transfer.slots) {
      if (view.host_pointer() == nullptr)
        throw Unsupported(
            "transport shmem needs memory that the host can address, but this buffer lies in device memory; use "
            "--transport staged, or --runtime native");
      slots.push_back(view.host_pointer());
    }
  }
  std::byte* take() {
    std::byte* slot = slots[next];
    if (++next == slots.size()) next = 0;
    return slot;
  }

  int peer, lane;
  std::size_t size;
  std::vector<std::byte*> slots;
  std::size_t next = 0;
};

struct Messages {
  std::vector<Message> sends, receives;
  std::vector<int> peers;  // of these, each once
};

class ShmemExchange : public CompiledExchange {
 public:
  ShmemExchange(const Exchange& exchange, ShmemMessages& messages) : messages_(messages), window_(exchange.window) {
    for (const Step& step : exchange.steps) {
      Messages& made = steps_.emplace_back();
      for (const Transfer& transfer : step.receives) made.receives.emplace_back(transfer);
      for (const Transfer& transfer : step.sends) made.sends.emplace_back(transfer);
      for (const auto* list : {&made.sends, &made.receives})
        for (const Message& message : *list)
          if (std::find(made.peers.begin(), made.peers.end(), message.peer) == made.peers.end())
            made.peers.push_back(message.peer);
    }
  }

  void start(std::uint64_t first, std::uint64_t count) override {
    for (Messages& step : steps_)
      for (auto* list : {&step.sends, &step.receives})
        for (Message& message : *list) message.next = first % message.slots.size();
    remaining_ = steps_.empty() ? 0 : count;
    step_ = 0;
    if (remaining_ > 0) post();
  }

  bool test() override {
    while (remaining_ > 0) {
      for (const int peer : steps_[step_].peers)
        if (messages_.progress(peer)) moved_ = true;
      if (pending_ > 0) return false;
      if (++step_ == steps_.size()) {
        step_ = 0;
        remaining_ -= std::min(remaining_, window_);
      }
      if (remaining_ > 0) post();
    }
    return true;
  }

  void wait() override {
    const Waiting waiting("messages of an exchange");
    Idle idle(true);
    for (std::uint64_t looks = 1; !test(); ++looks) {
      if (looks % 64 != 0) continue;
      if (moved_) {
        moved_ = false;
        idle.moved();
        Waiting::progress();
      }
      idle.look();
    }
  }

 private:
  void post() {
    Messages& step = steps_[step_];
    for (std::uint64_t round = 0; round < window_; ++round) {
      for (Message& m : step.receives) messages_.receive(m.take(), m.size, m.peer, m.lane, &pending_);
      for (Message& m : step.sends) messages_.send(m.take(), m.size, m.peer, m.lane, &pending_);
    }
  }

  ShmemMessages& messages_;
  std::uint64_t window_;
  std::vector<Messages> steps_;
  std::uint64_t pending_ = 0, remaining_ = 0;
  std::size_t step_ = 0;
  bool moved_ = false;
};

class ShmemTransport : public Transport {
 public:
  explicit ShmemTransport(World& world) : world_(world), messages_(world.size()) {}
  const TransportInfo& info() const override { return shmem_transport_info; }
  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) override {
    check_exchange(exchange, world_);
    return std::make_unique<ShmemExchange>(exchange, messages_);
  }

 private:
  World& world_;
  ShmemMessages messages_;
};

const RegisteredTransport registered_shmem("shmem",
                                           {shmem_transport_info, true,
                                            [](const World& world) -> std::string {
                                              return world.info().kind == "shmem" ? "" : "it needs a world over SHMEM";
                                            },
                                            [](World& world, Device&, const TransportWish&) {
                                              return std::make_unique<ShmemTransport>(world);
                                            }});

}  // namespace

}  // namespace plumb
