#include "transport/transport.hpp"

#include <fmt/format.h>

#include "core/json.hpp"

namespace plumb {

Json Transport::facts() const {
  return Json::object();
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
    if (transfer.slots.empty()) throw Error("an exchange has a transfer without a slot");
    for (const BufferView& slot : transfer.slots) {
      if (slot.size != transfer.slots.front().size) throw Error("the slots of a transfer differ in size");
      if (slot.offset + slot.size > slot.buffer->size())
        throw Error(fmt::format("a slot ends at byte {} of a buffer of {} bytes", slot.offset + slot.size,
                                slot.buffer->size()));
    }
  }
}

}  // namespace

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
