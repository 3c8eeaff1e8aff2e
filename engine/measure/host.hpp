// What this host is, and what about it spoils measurements.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "core/json_fwd.hpp"
#include "world/world.hpp"

namespace plumb {

struct Host {
  std::string name, os, kernel, cpu;
  int cores = 0;  // that this machine has online
  std::uint64_t memory_bytes = 0;
  std::string governor;  // of the first core; empty where the kernel does not tell
};

Host this_host();
Json to_json(const Host& host);

// Cores that this process may run on.
std::vector<int> bound_cores();
std::uint64_t available_memory_bytes();

// Variables of the environment that steer MPI, SHMEM, their networks and the devices' runtimes.
Json steering_environment();

// What else this host does: ticks of all cores since it started, by /proc/stat; the clock of the fastest core.
struct HostLoad {
  double all = 0, idle = 0, stolen = 0;
  double average = 0;  // runnable threads over the last minute
  double mhz = 0;      // 0: the kernel does not tell
};
HostLoad host_load();
// What happened between two looks: shares of the cores' time that were idle or stolen by the hypervisor.
Json to_json(const HostLoad& begin, const HostLoad& end);

// Seconds that each thread of this process has waited for a core while it had work, by its id (/proc's schedstat);
// empty where the kernel does not tell.
std::map<int, double> waited_for_cores();
// Of the thread that waited longest between two looks, as a share of so many seconds; 0 to 1.
double longest_wait(const std::map<int, double>& begin, const std::map<int, double>& end, double seconds);

// What one rank knows about itself; gathered to rank 0.
struct RankPlace {
  int rank = 0, host = 0, local_rank = 0;
  std::vector<int> cores;
};

struct Places {
  std::vector<Host> hosts;
  std::vector<RankPlace> ranks;
};
// Collective; filled on rank 0 only.
Places gather_places(World& world);

// Debug build, oversubscribed or shared cores, frequency scaling.
std::vector<Warning> doubts(const Places& places);

}  // namespace plumb
