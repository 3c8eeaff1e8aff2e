#include "transport/peer/peer.hpp"
#include "transport/port.hpp"
#include "world/team.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <sstream>

namespace plumb::peer {

namespace {

const TransportInfo peer_info{"peer", "into the memory of another process's device on this host", "device",
                              "streaming"};
const TransportInfo landing_info{"peer", peer_info.summary, "device", "buffered"};
const TransportInfo copies_info{"peer", peer_info.summary, "host", "buffered"};

class PeerTransport : public Transport {
 public:
  PeerTransport(World& world, Device& device, const TransportInfo& info)
      : world_(world), device_(device), info_(info) {}
  const TransportInfo& info() const override { return info_; }
  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) override {
    return compile_among(nullptr, exchange);
  }
  std::unique_ptr<Port> open_port(const Exchange& exchange, const KernelSource& source,
                                  const std::string& kernel) override {
    if (info_.landing == "buffered") return Transport::open_port(exchange, source, kernel);
    check_exchange(exchange, world_);
    return awaited(world_, [&] {
      return peer::open_port(exchange, source, kernel, std::make_unique<Neighbours>(world_, device_, nullptr));
    });
  }

 protected:
  std::unique_ptr<CompiledExchange> compile_in(Team& team, const Exchange& exchange) override {
    return compile_among(&team, exchange);
  }

 private:
  std::unique_ptr<CompiledExchange> compile_among(Team* team, const Exchange& exchange) {
    check_exchange(exchange, world_);
    return awaited(world_, [&] {
      auto neighbours = std::make_unique<Neighbours>(world_, device_, team);
      if (info_.scheduled_by == "host") return compile_copies(exchange, std::move(neighbours));
      if (info_.landing == "buffered") return compile_landing(exchange, std::move(neighbours));
      return exchange_by_port(exchange,
                              peer::open_port(exchange, rounds_source(), rounds_kernel, std::move(neighbours)));
    });
  }

  World& world_;
  Device& device_;
  const TransportInfo& info_;
};

std::string unfit_world(const World& world) {
  if (world.local_size() == world.size()) return "";
  return fmt::format("its ranks must run on one host, but {} of {} do; use pipelined or staged between hosts",
                     world.local_size(), world.size());
}

std::string unfit_device(const DeviceInfo& info) {
  if (info.runtime == "cuda") return "";
  if (info.runtime == "native" || info.runtime == "hls")
    return fmt::format("its kernels are OpenCL C, which runtime {} cannot run", info.runtime);
  if (info.type == "gpu")
    return fmt::format("runtime {} cannot share a GPU's memory between processes; for an NVIDIA GPU use --runtime cuda",
                       info.runtime);
  return "";
}

TransportEntry entry() {
  TransportEntry entry;
  entry.info = peer_info;
  entry.others = {landing_info, copies_info};
  entry.reason = unfit_world;
  entry.device_reason = unfit_device;
  entry.shares_buffers = true;
  entry.make = [](World& world, Device& device, const TransportWish& wish) {
    return std::make_unique<PeerTransport>(world, device, info_of(find_transport("peer"), wish.approach));
  };
  return entry;
}

const RegisteredTransport registered_peer("peer", entry());

}  // namespace

Neighbours::~Neighbours() {
  opened_.clear();
  // Skipped after an error: the other ranks are being ended and would not arrive.
  if (std::uncaught_exceptions() == 0) team_ != nullptr ? team_->barrier() : world_.barrier();
}

std::string Neighbours::offer(const BufferView& view) {
  if (!view.buffer->placement().shared)
    throw Unsupported("transport peer needs buffers shared between processes, but these are not");
  return fmt::format("{} {} ", view.offset, view.size) + device_.share(*view.buffer);
}

BufferView Neighbours::open(const std::string& text) {
  std::size_t offset = 0, size = 0;
  if (std::sscanf(text.c_str(), "%zu %zu", &offset, &size) != 2) throw Error("invalid offer of memory");
  const std::string handle = text.substr(text.find(' ', text.find(' ') + 1) + 1);
  std::unique_ptr<Buffer>& buffer = opened_[handle];
  if (!buffer) buffer = device_.open_shared(handle);
  return {buffer.get(), offset, size};
}

std::vector<Slots> remote_slots(const Step& step, Neighbours& neighbours) {
  std::vector<std::string> offers;
  for (const Transfer& receive : step.receives) {
    const Slots& slots = receive.slots;
    offers.push_back(packed({fmt::format("{} {} {} {}", slots.areas, slots.pitch, slots.stride, slots.first),
                             neighbours.offer(slots.view)}));
  }
  const auto heard = trade(neighbours.world(), step.receives, offers, step.sends);
  std::vector<Slots> remote;
  for (std::size_t i = 0; i < heard.size(); ++i) {
    const Transfer& send = step.sends[i];
    Slots& slots = remote.emplace_back();
    if (send.peer == neighbours.world().rank()) {
      for (const Transfer& receive : step.receives)
        if (receive.peer == send.peer && receive.lane == send.lane) slots = receive.slots;
    } else if (!heard[i].empty()) {
      const std::vector<std::string> parts = unpacked(heard[i]);
      std::istringstream(parts.at(0)) >> slots.areas >> slots.pitch >> slots.stride >> slots.first;
      slots.view = neighbours.open(parts.at(1));
    }
    if (slots.view.buffer == nullptr || slots.bytes() != send.slots.bytes())
      throw Error(fmt::format("a send to rank {} has no receive of its lane and size there", send.peer));
  }
  return remote;
}

}  // namespace plumb::peer
