#include "measure/host.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "core/json.hpp"
#include "core/units.hpp"
#include "core/version.hpp"
#include "device/throttling.hpp"
#include "world/collect.hpp"

extern char** environ;

namespace plumb {

namespace {

// The value of `key` in a file of "key<separator>value" lines; empty if missing.
std::string value_in(const char* path, const std::string& key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t at = line.find(separator);
    if (at == std::string::npos) continue;
    std::string value = line.substr(at + 1);
    value.erase(0, value.find_first_not_of(" \t\""));
    value.erase(value.find_last_not_of(" \t\"") + 1);
    return value;
  }
  return "";
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

Json place_json(const RankPlace& place) {
  return {{"rank", place.rank}, {"local_rank", place.local_rank}, {"cores", place.cores}};
}

// "always [madvise] never": madvise.
std::string in_brackets(const std::string& line) {
  const std::size_t begin = line.find('['), end = line.find(']');
  return begin == std::string::npos || end == std::string::npos ? "" : line.substr(begin + 1, end - begin - 1);
}

}  // namespace

Host this_host() {
  Host host;
  utsname names{};
  uname(&names);
  host.name = names.nodename;
  host.kernel = names.release;
  host.os = value_in("/etc/os-release", "PRETTY_NAME", '=');
  host.cpu = value_in("/proc/cpuinfo", "model name", ':');
  host.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  host.memory_bytes =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  host.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  return host;
}

Json to_json(const Host& host) {
  return {{"name", host.name},
          {"os", host.os},
          {"kernel", host.kernel},
          {"cpu", host.cpu},
          {"cores", host.cores},
          {"memory_bytes", host.memory_bytes},
          {"governor", host.governor.empty() ? Json(nullptr) : Json(host.governor)}};
}

namespace {

// A loaded topology. Plugins that load a device's driver take time, and OpenCL's loader changes the environment (it
// cuts OCL_ICD_FILENAMES at its first colon).
class Topology {
 public:
  explicit Topology(bool with_devices) {
    hwloc_topology_init(&topology_);
    for (const char* plugin : {"opencl", "cuda", "nvml", "rsmi", "levelzero"})
      hwloc_topology_set_components(topology_, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, plugin);
    if (with_devices) hwloc_topology_set_io_types_filter(topology_, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_load(topology_);
  }
  ~Topology() { hwloc_topology_destroy(topology_); }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;
  hwloc_topology_t get() const { return topology_; }

 private:
  hwloc_topology_t topology_ = nullptr;
};

std::vector<int> members(hwloc_const_bitmap_t set) {
  std::vector<int> cores;
  for (int core = hwloc_bitmap_first(set); core >= 0; core = hwloc_bitmap_next(set, core)) cores.push_back(core);
  return cores;
}

}  // namespace

std::vector<int> bound_cores() {
  // hwloc instead of a fixed cpu_set_t: some machines have more than 1024 cores.
  const Topology topology(false);
  hwloc_bitmap_t set = hwloc_bitmap_alloc();
  std::vector<int> cores;
  if (hwloc_get_cpubind(topology.get(), set, HWLOC_CPUBIND_THREAD) == 0) cores = members(set);
  hwloc_bitmap_free(set);
  return cores;
}

std::vector<int> cores_near(const std::string& pci_address) {
  if (pci_address.empty()) return {};
  const Topology topology(true);
  hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology.get(), pci_address.c_str());
  hwloc_obj_t parent = device == nullptr ? nullptr : hwloc_get_non_io_ancestor_obj(topology.get(), device);
  return parent == nullptr ? std::vector<int>{} : members(parent->cpuset);
}

std::uint64_t available_memory_bytes() {
  const std::string value = value_in("/proc/meminfo", "MemAvailable", ':');
  return value.empty() ? 0 : std::stoull(value) * 1024;
}

Json steering_environment() {
  static constexpr std::array prefixes{
      "OMPI_", "PMIX_MCA_",       "MPIR_",      "MPICH_",  "HYDRA_",     "I_MPI_", "UCX_",      "FI_",  "SHMEM_",
      "SMA_",  "POCL_",           "OCL_",       "OPENCL_", "CL_CONFIG_", "CUDA_",  "NCCL_",     "OMP_", "GOMP_",
      "KMP_",  "LD_LIBRARY_PATH", "LD_PRELOAD", "SYCL_",   "ONEAPI_",    "UR_",    "PLUMB_MPI_"};
  // Set by launchers for their own processes, not by users.
  static constexpr std::array noise{"OMPI_COMM_WORLD",
                                    "OMPI_MCA_orte",
                                    "OMPI_MCA_ess",
                                    "OMPI_MCA_pmix",
                                    "OMPI_UNIVERSE",
                                    "OMPI_ARGV",
                                    "OMPI_COMMAND",
                                    "OMPI_APP",
                                    "OMPI_FILE",
                                    "OMPI_NUM",
                                    "OMPI_FIRST",
                                    "OMPI_MCA_initial",
                                    "OMPI_MCA_mpi_oversubscribe",
                                    "OMPI_MCA_shmem_RUNTIME"};
  const auto starts = [](const std::string& text, const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](const char* prefix) { return text.starts_with(prefix); });
  };
  std::map<std::string, std::string> sorted;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos && starts(text, prefixes) && !starts(text, noise))
      sorted[text.substr(0, equals)] = text.substr(equals + 1);
  }
  Json result = Json::object();
  for (const auto& [name, value] : sorted) result[name] = value;
  return result;
}

Places gather_places(World& world) {
  const RankPlace mine{world.rank(), 0, world.local_rank(), bound_cores()};
  const Json text{{"host", to_json(this_host())}, {"place", place_json(mine)}};
  Places places;
  // Ranks are grouped by host by their local ranks; names may repeat (containers), so a host is identified by its name
  // and all its other properties.
  std::map<std::string, int> known;
  for (const std::string& part : gather_texts(world, text.dump(-1, ' ', false, Json::error_handler_t::replace))) {
    const Json got = Json::parse(part);
    const Json& h = got["host"];
    const auto [entry, fresh] = known.emplace(h.dump(), static_cast<int>(places.hosts.size()));
    if (fresh)
      places.hosts.push_back({h["name"], h["os"], h["kernel"], h["cpu"], h["cores"], h["memory_bytes"],
                              h["governor"].is_null() ? "" : h["governor"].get<std::string>()});
    const Json& p = got["place"];
    places.ranks.push_back({p["rank"], entry->second, p["local_rank"], p["cores"].get<std::vector<int>>()});
  }
  return places;
}

namespace {

void doubt_cores(const Places& places, std::vector<Warning>& warnings) {
  for (std::size_t host = 0; host < places.hosts.size(); ++host) {
    std::set<int> used;
    std::size_t ranks = 0;
    bool shared = false;
    for (const RankPlace& place : places.ranks) {
      if (place.host != static_cast<int>(host)) continue;
      ++ranks;
      for (const int core : place.cores) shared |= !used.insert(core).second;
    }
    const Host& h = places.hosts[host];
    if (ranks > static_cast<std::size_t>(h.cores) || ranks > used.size())
      warnings.push_back(
          {"oversubscribed", fmt::format("{} ranks share {} cores on {}: they wait for each other, and the "
                                         "times are not representative",
                                         ranks, used.size(), h.name)});
    else if (shared)
      warnings.push_back({"unbound", fmt::format("the ranks on {} are not bound to cores of their own: bind them "
                                                 "(mpirun --bind-to core), or expect wider intervals",
                                                 h.name)});
  }
}

void doubt_devices(const Places& places, std::vector<Warning>& warnings) {
  std::map<std::pair<int, std::string>, int> users;
  for (const RankPlace& place : places.ranks)
    if (!place.device.empty()) ++users[{place.host, place.device}];
  for (const auto& [device, ranks] : users)
    if (ranks > 1)
      warnings.push_back({"shared_device", fmt::format("{} ranks share {} of {}: a figure of one rank is of its share, "
                                                       "and the device's is that of its ranks together",
                                                       ranks, device.second,
                                                       places.hosts[static_cast<std::size_t>(device.first)].name)});
}

}  // namespace

std::vector<Warning> doubts(const Places& places) {
  std::vector<Warning> warnings;
  const BuildInfo& build = build_info();
  if (build.build_type != "Release" && build.build_type != "RelWithDebInfo")
    warnings.push_back(
        {"debug_build", fmt::format("this is a {} build: figures are not the hardware's", build.build_type)});
  if (build.flags.find("-fsanitize") != std::string::npos)
    warnings.push_back({"sanitized_build", "this build carries sanitizers: figures are not the hardware's"});
  doubt_cores(places, warnings);
  doubt_devices(places, warnings);
  for (const Host& host : places.hosts)
    if (!host.governor.empty() && host.governor != "performance")
      warnings.push_back({"frequency_scaling", fmt::format("the cores of {} change their frequency (governor {}): set "
                                                           "\"performance\"",
                                                           host.name, host.governor)});
  return warnings;
}

HostLoad host_load() {
  HostLoad load;
  std::ifstream stat("/proc/stat"), average("/proc/loadavg"), cpus("/proc/cpuinfo");
  std::string word;
  stat >> word;
  // user nice system idle iowait irq softirq steal (proc(5)); the fields after these are included in user.
  double ticks = 0;
  for (int field = 0; field < 8 && stat >> ticks; ++field) {
    load.all += ticks;
    if (field == 3 || field == 4) load.idle += ticks;
    if (field == 7) load.stolen = ticks;
  }
  average >> load.average;
  for (std::string line; std::getline(cpus, line);)
    if (line.starts_with("cpu MHz")) load.mhz = std::max(load.mhz, std::atof(line.substr(line.find(':') + 1).c_str()));
  load.huge_pages = in_brackets(first_line("/sys/kernel/mm/transparent_hugepage/enabled"));
  load.throttled = throttled_seconds();
  return load;
}

std::map<int, double> waited_for_cores() {
  std::map<int, double> waited;
  std::error_code none;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", none)) {
    std::ifstream file(thread.path() / "schedstat");
    double ran = 0, nanoseconds = 0;
    if (file >> ran >> nanoseconds) waited[std::stoi(thread.path().filename())] = nanoseconds * 1e-9;
  }
  return waited;
}

double longest_wait(const std::map<int, double>& begin, const std::map<int, double>& end, double seconds) {
  double longest = 0;
  for (const auto& [thread, waited] : end) {
    const auto before = begin.find(thread);
    longest = std::max(longest, waited - (before == begin.end() ? 0 : before->second));
  }
  return seconds > 0 ? std::min(longest / seconds, 1.0) : 0;
}

Json to_json(const HostLoad& begin, const HostLoad& end) {
  const double ticks = end.all - begin.all;
  const auto share = [&](double from, double to) { return ticks > 0 ? Json((to - from) / ticks) : Json(nullptr); };
  Json throttled = Json::object();
  for (const auto& [cause, seconds] : end.throttled) {
    const auto before = begin.throttled.find(cause);
    if (before != begin.throttled.end()) throttled[cause] = seconds - before->second;
  }
  const auto clock = [](double mhz) { return mhz > 0 ? Json(mhz) : Json(nullptr); };
  return {{"of", "the host of rank 0"},
          {"idle_share", share(begin.idle, end.idle)},
          {"stolen_share", share(begin.stolen, end.stolen)},
          {"average_begin", begin.average},
          {"average_end", end.average},
          {"clock_begin_mhz", clock(begin.mhz)},
          {"clock_end_mhz", clock(end.mhz)},
          {"huge_pages", begin.huge_pages.empty() ? Json(nullptr) : Json(begin.huge_pages)},
          {"gpu_throttled_s", throttled.empty() ? Json(nullptr) : throttled}};
}

}  // namespace plumb
