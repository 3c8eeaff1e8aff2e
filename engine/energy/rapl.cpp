// Running average power limit counters of CPUs, as Linux's power capping framework shows them (kernel documentation,
// power/powercap): energy_uj counts up to max_energy_range_uj and starts again. A package contains its cores and its
// uncore; psys contains the packages; memory (dram) stands apart, but within psys.
#include <fmt/format.h>

#include "core/error.hpp"
#include "energy/files.hpp"

namespace plumb::energy {

namespace {

constexpr double update_s = 1e-3;  // Intel SDM vol. 3, 15.10: about a millisecond
constexpr double usual_step = 61;  // uJ: 2^-14 J, the unit of most processors

struct Zone {
  std::string folder, name, parent;  // parent: name of the zone above, "" for none
};

void add(const Zone& zone, bool has_platform, Found& found) {
  const std::string counter = zone.folder + "/energy_uj";
  const auto range = number_if_any(zone.folder + "/max_energy_range_uj");
  SensorInfo info;
  info.reader = "rapl";
  info.name = "rapl:" + (zone.parent.empty() ? zone.name : zone.parent + "/" + zone.name);
  info.of = zone.name.starts_with("package-") ? zone.name.substr(8) : "0";
  info.unit = "uJ";
  info.interval_s = update_s;
  info.range = range.value_or(0);
  info.quantum = usual_step;
  if (zone.name == "psys")
    info.domain = Domain::node;
  else if (zone.name.starts_with("package-"))
    info.domain = Domain::package;
  else if (zone.name == "dram")
    info.domain = Domain::dram;
  if (info.domain == Domain::dram && zone.parent.starts_with("package-")) info.of = zone.parent.substr(8);
  if (info.domain == Domain::part) info.within = "rapl:" + zone.parent;
  if (has_platform && (info.domain == Domain::package || info.domain == Domain::dram)) info.within = "rapl:psys";
  try {
    number_in(counter);
    found.sensors.push_back(
        std::make_unique<FileSensor>(std::move(info), counter, zone.folder + "/constraint_0_power_limit_uw"));
  } catch (const Error& error) {
    if (found.reason.empty()) found.reason = error.what();
  }
}

Found find_rapl(const Place& place) {
  const std::string root = place.root + "/class/powercap";
  std::vector<Zone> zones;
  bool has_platform = false;
  for (const std::string& entry : entries(root, "intel-rapl:")) {  // AMD's processors have the same name
    const auto name = line_of(root + "/" + entry + "/name");
    if (!name) continue;
    const std::size_t last = entry.rfind(':');
    std::string parent;
    if (last > std::string("intel-rapl").size())
      parent = line_of(root + "/" + entry.substr(0, last) + "/name").value_or("");
    has_platform = has_platform || *name == "psys";
    zones.push_back({root + "/" + entry, *name, parent});
  }
  Found found;
  if (zones.empty()) found.reason = fmt::format("{} has no intel-rapl zones: this host's kernel shows no RAPL", root);
  for (const Zone& zone : zones) add(zone, has_platform, found);
  return found;
}

const RegisteredReader registered_rapl("rapl", find_rapl);

}  // namespace

}  // namespace plumb::energy
