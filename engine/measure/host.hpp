// Properties of this host, and those that disturb measurements.
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
  int cores = 0;  // online cores
  std::uint64_t memory_bytes = 0;
  std::string governor;  // of the first core; empty if the kernel reports none
};

Host this_host();
Json to_json(const Host& host);

// Cores that this process may run on.
std::vector<int> bound_cores();
// Cores near to a device on the PCI bus ("0000:18:00.0"); empty if hwloc does not know it.
std::vector<int> cores_near(const std::string& pci_address);
std::uint64_t available_memory_bytes();

// Environment variables of MPI, SHMEM, their networks and the devices' runtimes.
Json steering_environment();

// Load of this host: ticks of all cores since boot, by /proc/stat; clock of the fastest core.
struct HostLoad {
  double all = 0, idle = 0, stolen = 0;
  double average = 0;                            // runnable threads, average over the last minute
  double mhz = 0;                                // 0: not reported by the kernel
  std::string huge_pages = {};                   // transparent ones: always, madvise, never; empty: not reported
  std::map<std::string, double> throttled = {};  // see throttled_seconds()
};
HostLoad host_load();
// Shares of the cores' time between two readings, idle and stolen by the hypervisor.
Json to_json(const HostLoad& begin, const HostLoad& end);

// Seconds that each thread of this process was runnable without a core, by thread id (/proc's schedstat);
// empty if the kernel does not report it.
std::map<int, double> waited_for_cores();
// Largest waiting time of a thread between two readings, as a share of `seconds`; 0 to 1.
double longest_wait(const std::map<int, double>& begin, const std::map<int, double>& end, double seconds);

// Properties of one rank, gathered on rank 0.
struct RankPlace {
  int rank = 0, host = 0, local_rank = 0;
  std::vector<int> cores;
  std::string device = {};  // that other ranks of its host may use as well; empty: its own
};

struct Places {
  std::vector<Host> hosts;
  std::vector<RankPlace> ranks;
};
// Collective; complete on rank 0 only.
Places gather_places(World& world);

// Warnings: debug build, oversubscribed or shared cores, shared devices, frequency scaling.
std::vector<Warning> doubts(const Places& places);

}  // namespace plumb
