// Cores and memory of the host that this process may use, for devices on the host.
#pragma once

#include <cstdint>

namespace plumb {

struct HostShare {
  unsigned cores = 1;                 // of this process's affinity mask
  std::uint64_t memory_bytes = 0;     // of the host
  std::uint64_t available_bytes = 0;  // available without swapping; the total if the kernel does not report it
  std::uint64_t cache_bytes = 0;      // total of the last-level caches of these cores; 0 if unknown
};

HostShare host_share();

}  // namespace plumb
