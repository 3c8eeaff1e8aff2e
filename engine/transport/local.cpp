// Transport `local`: a rank's messages to itself, copied in host memory. What the serial world has instead of a
// network.
#include <cstring>
#include <vector>

#include "transport/walk.hpp"

namespace plumb {

namespace {

const TransportInfo local_info{"local", "copies within one rank's host memory", "host", "buffered"};

struct Copy {
  Slots from, to;
};

const Transfer& sender_of(const Step& step, const Transfer& receive) {
  for (const Transfer& send : step.sends)
    if (send.lane == receive.lane) return send;
  throw Error("transport local: a receive has no send of its lane in the same step");
}

class LocalExchange : public WalkedExchange {
 public:
  explicit LocalExchange(const Exchange& exchange) : WalkedExchange(walk_by_rounds(exchange, 64, "copies")) {
    for (const Step& step : exchange.steps)
      for (const Transfer& receive : step.receives) {
        const Transfer& send = sender_of(step, receive);
        for (const Transfer* transfer : {&send, &receive})
          if (transfer->slots.view.host_pointer() == nullptr)
            throw Unsupported("transport local needs memory that the host can address; use --transport staged");
        copies_.push_back({send.slots, receive.slots});
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
