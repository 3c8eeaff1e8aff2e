#include "device/host_share.hpp"

#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace plumb {

namespace {

// The kernel rejects masks smaller than its own; some machines have more than 1024 CPUs.
std::vector<int> allowed_cores() {
  for (int cpus = CPU_SETSIZE; cpus <= (1 << 20); cpus *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(static_cast<std::size_t>(cpus)),
                                                               [](cpu_set_t* s) { CPU_FREE(s); });
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(cpus));
    if (!set || sched_getaffinity(0, bytes, set.get()) != 0) continue;
    std::vector<int> cores;
    for (int cpu = 0; cpu < cpus; ++cpu)
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set.get())) cores.push_back(cpu);
    return cores;
  }
  return {0};
}

// "MemAvailable:   22561364 kB"
std::uint64_t available_bytes(std::uint64_t otherwise) {
  std::ifstream meminfo("/proc/meminfo");
  std::string word;
  while (meminfo >> word)
    if (std::uint64_t kib = 0; word == "MemAvailable:" && meminfo >> kib) return kib * 1024;
  return otherwise;
}

// Last-level cache of one core: the cores that share it (its identity), and its size, "32768K" in sysfs.
std::pair<std::string, std::uint64_t> last_cache(int core) {
  std::pair<std::string, std::uint64_t> last;
  int highest = 0;
  for (int index = 0;; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/cache/index" + std::to_string(index) + "/";
    std::ifstream level_file(folder + "level"), size_file(folder + "size"), shared_file(folder + "shared_cpu_list");
    int level = 0;
    std::uint64_t kib = 0;
    if (!(level_file >> level)) return last;
    if (level < highest || !(size_file >> kib)) continue;
    highest = level;
    shared_file >> last.first;
    last.second = kib * 1024;
  }
}

std::uint64_t cache_bytes(const std::vector<int>& cores) {
  std::map<std::string, std::uint64_t> caches;
  for (const int core : cores) caches.insert(last_cache(core));
  std::uint64_t sum = 0;
  for (const auto& [shared_by, bytes] : caches) sum += bytes;
  return sum;
}

}  // namespace

HostShare host_share() {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  const std::uint64_t memory = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::vector<int> cores = allowed_cores();
  static const std::uint64_t caches = cache_bytes(cores);
  return {static_cast<unsigned>(cores.size()), memory, available_bytes(memory), caches};
}

}  // namespace plumb
