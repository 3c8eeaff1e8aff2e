// Network ports of this host, and the bytes that they have moved, of all programs (sysfs).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/json_fwd.hpp"

namespace plumb {

struct Moved {
  std::uint64_t sent = 0, received = 0;  // bytes
};
using Ports = std::map<std::string, Moved>;

// Interfaces ("eth0") without loopback and those that lie on others (bonds, bridges), and ports of adapters whose
// messages pass the system by ("mlx5_0:1").
Ports network_ports(const std::string& sysfs = "/sys");
// What each port moved between two readings; without ports that moved nothing, and those that began anew.
Json to_json(const Ports& begin, const Ports& end);

}  // namespace plumb
