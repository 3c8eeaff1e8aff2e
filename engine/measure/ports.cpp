#include "measure/ports.hpp"

#include <optional>

#include "core/json.hpp"
#include "energy/files.hpp"

namespace plumb {

namespace {

using energy::entries;

constexpr double loopback = 772;  // ARPHRD_LOOPBACK
constexpr double octets = 4;      // of a unit of InfiniBand's data counters

std::optional<Moved> moved(const std::string& sent, const std::string& received, double unit) {
  const auto out = energy::number_if_any(sent), in = energy::number_if_any(received);
  if (!out || !in) return std::nullopt;
  return Moved{static_cast<std::uint64_t>(*out * unit), static_cast<std::uint64_t>(*in * unit)};
}

}  // namespace

Ports network_ports(const std::string& sysfs) {
  Ports ports;
  const auto add = [&](const std::string& name, const std::optional<Moved>& bytes) {
    if (bytes) ports[name] = *bytes;
  };
  for (const std::string& name : entries(sysfs + "/class/net", "")) {
    const std::string at = sysfs + "/class/net/" + name;
    if (energy::number_if_any(at + "/type") == loopback || !entries(at, "lower_").empty()) continue;
    add(name, moved(at + "/statistics/tx_bytes", at + "/statistics/rx_bytes", 1));
  }
  for (const std::string& adapter : entries(sysfs + "/class/infiniband", "")) {
    const std::string at = sysfs + "/class/infiniband/" + adapter + "/ports/";
    for (const std::string& port : entries(at, "")) {
      const std::string counters = at + port + "/counters/port_";
      add(adapter + ":" + port, moved(counters + "xmit_data", counters + "rcv_data", octets));
    }
  }
  return ports;
}

Json to_json(const Ports& begin, const Ports& end) {
  Json list = Json::array();
  for (const auto& [name, now] : end) {
    const auto before = begin.find(name);
    if (before == begin.end()) continue;
    const auto& [sent, received] = before->second;
    if (now.sent < sent || now.received < received) continue;
    if (now.sent == sent && now.received == received) continue;
    list.push_back({{"name", name}, {"sent_bytes", now.sent - sent}, {"received_bytes", now.received - received}});
  }
  return list;
}

}  // namespace plumb
