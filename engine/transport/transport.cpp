#include "transport/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/json.hpp"
#include "transport/port.hpp"
#include "world/team.hpp"

namespace plumb {

Json Transport::facts() const {
  return Json::object();
}

std::unique_ptr<Port> Transport::open_port(const Exchange&, const KernelSource&, const std::string&) {
  throw Unsupported(
      fmt::format("transport {} ({}) has no port for kernels, because the host starts its messages; use peer "
                  "(device-streaming) or channel",
                  info().name, approach(info())));
}

std::unique_ptr<CompiledExchange> Transport::compile(const Exchange& exchange, Team& team) {
  if (!team.is_member()) throw Error("an exchange among a team is compiled by a rank that is no member of it");
  Exchange of_world = exchange;
  for (Step& step : of_world.steps)
    for (auto* transfers : {&step.sends, &step.receives})
      for (Transfer& transfer : *transfers) {
        if (transfer.peer < 0 || transfer.peer >= team.size())
          throw Error(fmt::format("an exchange names place {} of a team, which has places 0 to {}", transfer.peer,
                                  team.size() - 1));
        transfer.peer = team.ranks()[static_cast<std::size_t>(transfer.peer)];
      }
  return compile_in(team, of_world);
}

std::unique_ptr<CompiledExchange> Transport::compile_in(Team&, const Exchange& exchange) {
  return compile(exchange);
}

TransportOptions::TransportOptions() {
  const auto& registry = Registry<TransportOptionsMaker>::instance();
  for (const std::string& name : registry.names()) {
    by_name_[name] = (*registry.find(name))();
    include(*by_name_[name]);
  }
}

const TransportEntry& find_transport(const std::string& name) {
  const auto& registry = Registry<TransportEntry>::instance();
  const TransportEntry* entry = registry.find(name);
  if (entry == nullptr) throw UsageError(unknown_name("transport", name, registry.names()));
  return *entry;
}

std::string approach(const TransportInfo& info) {
  return info.scheduled_by + "-" + info.landing;
}

const TransportInfo& info_of(const TransportEntry& entry, const std::string& wished) {
  if (wished.empty() || wished == approach(entry.info)) return entry.info;
  std::vector<std::string> known{approach(entry.info)};
  for (const TransportInfo& other : entry.others) {
    if (approach(other) == wished) return other;
    known.push_back(approach(other));
  }
  throw UsageError(unknown_name("approach of transport " + entry.info.name, wished, known));
}

std::string default_runtime(const TransportEntry& entry) {
  if (!entry.runtime.empty()) return entry.runtime;
  return entry.needs_host_memory ? "native" : "opencl";
}

std::unique_ptr<Transport> make_host_transport(World& world, Device& device) {
  return find_transport(world.info().host_transport).make(world, device, {});
}

namespace {

void check_transfers(const std::vector<Transfer>& transfers, const World& world) {
  for (const Transfer& transfer : transfers) {
    if (transfer.peer < 0 || transfer.peer >= world.size())
      throw Error(
          fmt::format("an exchange names rank {}, but there are ranks 0 to {}", transfer.peer, world.size() - 1));
    const Slots& slots = transfer.slots;
    if (slots.areas == 0) throw Error("an exchange has a transfer without a place");
    if (slots.view.offset + slots.bytes() > slots.view.buffer->size())
      throw Error(fmt::format("a message's place ends at byte {} of a buffer of {} bytes",
                              slots.view.offset + slots.bytes(), slots.view.buffer->size()));
    if (slots.rounds() == 0)
      throw Error(
          fmt::format("{} slots of {} bytes, {} bytes apart, must lie within a buffer of {} bytes and not "
                      "overlap",
                      slots.areas, slots.bytes(), slots.pitch, slots.view.buffer->size()));
  }
}

}  // namespace

// Slots with a stride extend to the end of their buffer.
bool overlap(const Slots& a, const Slots& b) {
  const auto end = [](const Slots& p) {
    return p.stride > 0 ? p.view.buffer->size() : p.view.offset + (p.areas - 1) * p.pitch + p.bytes();
  };
  return a.view.buffer == b.view.buffer && a.view.offset < end(b) && b.view.offset < end(a);
}

std::uint64_t Slots::rounds() const {
  const std::size_t last = view.offset + (areas - 1) * pitch + view.size;  // of the first lap
  if (last > view.buffer->size() || (areas > 1 && pitch < view.size)) return 0;
  if (stride == 0) return std::numeric_limits<std::uint64_t>::max();
  std::size_t room = view.buffer->size() - last;
  if (areas > 1) room = std::min(room, pitch - view.size);
  const std::uint64_t turns = (room / stride + 1) * areas;
  return turns - std::min(turns, first);
}

namespace {

template <class F>
void each_transfer(const Exchange& exchange, F use) {
  for (const Step& step : exchange.steps)
    for (const auto* transfers : {&step.sends, &step.receives})
      for (const Transfer& transfer : *transfers) use(transfer);
}

}  // namespace

std::uint64_t Exchange::rounds() const {
  std::uint64_t rounds = std::numeric_limits<std::uint64_t>::max();
  each_transfer(*this, [&](const Transfer& transfer) { rounds = std::min(rounds, transfer.slots.rounds()); });
  return rounds;
}

std::size_t Exchange::largest_message() const {
  std::size_t largest = 0;
  each_transfer(*this, [&](const Transfer& transfer) { largest = std::max(largest, transfer.slots.bytes()); });
  return largest;
}

void check_exchange(const Exchange& exchange, const World& world) {
  if (exchange.window == 0) throw Error("an exchange has a window of no rounds");
  if (exchange.window > 1 && exchange.steps.size() > 1)
    throw Error("an exchange of several steps has one round under way at a time");
  for (const Step& step : exchange.steps) {
    check_transfers(step.sends, world);
    check_transfers(step.receives, world);
  }
}

}  // namespace plumb
