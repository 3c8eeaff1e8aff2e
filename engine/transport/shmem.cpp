// Transport `shmem`: host memory by OpenSHMEM puts.
#include <algorithm>
#include <vector>

#include "transport/idle.hpp"
#include "transport/shmem_messages.hpp"
#include "transport/walk.hpp"
#include "world/watchdog.hpp"

namespace plumb {

namespace {

const TransportInfo shmem_transport_info{"shmem", "OpenSHMEM puts between host memories, without a device's memory",
                                         "host", "buffered"};

struct Message {
  explicit Message(const Transfer& transfer)
      : peer(transfer.peer),
        lane(transfer.lane),
        size(transfer.slots.bytes()),
        slots(transfer.slots.view.host_pointer(), transfer.slots) {
    if (transfer.slots.view.host_pointer() == nullptr)
      throw Unsupported(
          "transport shmem needs memory that the host can address, but this buffer lies in device memory; use "
          "--transport staged, or --runtime native");
  }

  int peer, lane;
  std::size_t size;
  SlotCursor slots;
};

struct Messages {
  std::vector<Message> sends, receives;
  std::vector<int> peers;  // of these, without duplicates
};

class ShmemExchange : public WalkedExchange {
 public:
  ShmemExchange(const Exchange& exchange, ShmemMessages& messages)
      : WalkedExchange(walk_by_step(exchange, "messages of an exchange")), messages_(messages) {
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

 private:
  void start_step(std::size_t step, std::uint64_t first, std::uint64_t end) override {
    for (auto* list : {&steps_[step].sends, &steps_[step].receives})
      for (Message& message : *list) message.slots.seek(first);
    for (std::uint64_t round = first; round < end; ++round) {
      for (Message& m : steps_[step].receives) messages_.receive(m.slots.take(), m.size, m.peer, m.lane, &pending_);
      for (Message& m : steps_[step].sends) messages_.send(m.slots.take(), m.size, m.peer, m.lane, &pending_);
    }
  }

  bool test_step(std::size_t step) override {
    for (const int peer : steps_[step].peers)
      if (messages_.progress(peer)) moved_ = true;
    return pending_ == 0;
  }

  void wait_step(std::size_t step) override {
    Idle idle(true);
    for (std::uint64_t looks = 1; !test_step(step); ++looks) {
      if (looks % 64 != 0) continue;
      if (moved_) {
        moved_ = false;
        idle.moved();
        Waiting::progress();
      }
      idle.look();
    }
  }

  void resize(const std::vector<StepSizes>& sizes) override {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      for (std::size_t k = 0; k < steps_[i].sends.size(); ++k) steps_[i].sends[k].size = sizes[i].sends[k];
      for (std::size_t k = 0; k < steps_[i].receives.size(); ++k) steps_[i].receives[k].size = sizes[i].receives[k];
    }
  }

  ShmemMessages& messages_;
  std::vector<Messages> steps_;
  std::uint64_t pending_ = 0;
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
