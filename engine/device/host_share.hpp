// What this process may use of its host: cores and memory, for devices that are made of them.
#pragma once

#include <cstdint>

namespace plumb {

struct HostShare {
  unsigned cores = 1;              // of this process's affinity mask
  std::uint64_t memory_bytes = 0;  // of the host
  std::uint64_t available_bytes =
      0;                          // that can be taken now without swapping; all of it where the kernel does not tell
  std::uint64_t cache_bytes = 0;  // of the last level, of all caches that these cores reach; 0 where nobody tells
};

HostShare host_share();

}  // namespace plumb
