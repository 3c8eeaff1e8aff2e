// Transport `local`: messages of a rank to itself, copied in host memory, for the serial world.
#include <cstring>
#include <vector>

#include "transport/walk.hpp"

namespace plumb {

namespace {

const TransportInfo local_info{"local", "copies within one rank's host memory", "host", "buffered"};

struct Copy {
  Slots from, to;
  std::size_t step, receive;  // its receive
};

const Transfer& sender_of(const Step& step, const Transfer& receive) {
  for (const Transfer& send : step.sends)
    if (send.lane == receive.lane) return send;
  throw Error("transport local: a receive has no send of its lane in the same step");
}

class LocalExchange : public WalkedExchange {
 public:
  explicit LocalExchange(const Exchange& exchange) : WalkedExchange(walk_by_rounds(exchange, 64, "copies")) {
    for (std::size_t i = 0; i < exchange.steps.size(); ++i) {
      const Step& step = exchange.steps[i];
      for (const Transfer& receive : step.receives) {
        const Transfer& send = sender_of(step, receive);
        for (const Transfer* transfer : {&send, &receive})
          if (transfer->slots.view.host_pointer() == nullptr)
            throw Unsupported("transport local needs memory that the host can address; use --transport staged");
        copies_.push_back({send.slots, receive.slots, i, static_cast<std::size_t>(&receive - step.receives.data())});
      }
    }
  }

 private:
  void start_step(std::size_t, std::uint64_t first, std::uint64_t end) override {
    for (std::uint64_t round = first; round < end; ++round)
      for (const Copy& copy : copies_)
        std::memcpy(copy.to.at(round).host_pointer(), copy.from.at(round).host_pointer(), copy.from.bytes());
  }
  bool test_step(std::size_t) override { return true; }
  void wait_step(std::size_t) override {}
  void resize(const std::vector<StepSizes>& sizes) override {
    for (Copy& copy : copies_) copy.from.view.size = copy.to.view.size = sizes[copy.step].receives[copy.receive];
  }

  std::vector<Copy> copies_;
};

class LocalTransport : public Transport {
 public:
  explicit LocalTransport(World& world) : world_(world) {}
  const TransportInfo& info() const override { return local_info; }
  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) override {
    check_exchange(exchange, world_);
    return std::make_unique<LocalExchange>(exchange);
  }

 private:
  World& world_;
};

const RegisteredTransport registered_local(
    "local", {local_info, true,
              [](const World& world) -> std::string { return world.size() == 1 ? "" : "it serves one rank only"; },
              [](World& world, Device&, const TransportWish&) { return std::make_unique<LocalTransport>(world); }});

}  // namespace

}  // namespace plumb
