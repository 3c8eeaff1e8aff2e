#include "device/host_share.hpp"

#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

namespace plumb {

namespace {

// The kernel refuses a mask smaller than its own; machines beyond 1024 CPUs exist.
unsigned allowed_cores() {
  for (int cpus = CPU_SETSIZE; cpus <= (1 << 20); cpus *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(static_cast<std::size_t>(cpus)),
                                                               [](cpu_set_t* s) { CPU_FREE(s); });
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(cpus));
    if (set && sched_getaffinity(0, bytes, set.get()) == 0) return static_cast<unsigned>(CPU_COUNT_S(bytes, set.get()));
  }
  return 1;
}

// "MemAvailable:   22561364 kB"
std::uint64_t available_bytes(std::uint64_t otherwise) {
  std::ifstream meminfo("/proc/meminfo");
  std::string word;
  while (meminfo >> word)
    if (std::uint64_t kib = 0; word == "MemAvailable:" && meminfo >> kib) return kib * 1024;
  return otherwise;
}

}  // namespace

HostShare host_share() {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  const std::uint64_t memory = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return {allowed_cores(), memory, available_bytes(memory)};
}

}  // namespace plumb
