// Counters of Cray's nodes (HPE Cray EX, "PM Counters"): /sys/cray/pm_counters/*energy, "24815 J 1571329 us", ten times
// a second (raw_scan_hz) in whole joules. `energy` is the whole node; cpu, memory and accelN lie within it.
#include <fmt/format.h>

#include "core/error.hpp"
#include "energy/files.hpp"

namespace plumb::energy {

namespace {

Domain domain_of(const std::string& file) {
  if (file == "energy") return Domain::node;
  if (file.starts_with("cpu")) return Domain::package;
  if (file.starts_with("memory")) return Domain::dram;
  if (file.starts_with("accel")) return Domain::device;
  return Domain::part;
}

Found find_pm_counters(const Place& place) {
  const std::string root = place.root + "/cray/pm_counters";
  const double hertz = number_if_any(root + "/raw_scan_hz").value_or(10);
  Found found;
  for (const std::string& file : entries(root, "")) {
    if (!file.ends_with("energy")) continue;
    SensorInfo info;
    info.reader = "pm_counters";
    info.name = "pm_counters:" + file;
    info.domain = domain_of(file);
    info.of = file.starts_with("accel") ? "accel" + file.substr(5, file.find('_') - 5) : "all";
    info.unit = "J";
    info.interval_s = hertz > 0 ? 1 / hertz : 0.1;
    info.within = info.domain == Domain::node ? "" : "pm_counters:energy";
    const std::string stem = file == "energy" ? "power" : file.substr(0, file.find('_')) + "_power";
    try {
      number_in(root + "/" + file);
      found.sensors.push_back(
          std::make_unique<FileSensor>(std::move(info), root + "/" + file, root + "/" + stem + "_cap", 1.0));
    } catch (const Error& error) {
      if (found.reason.empty()) found.reason = error.what();
    }
  }
  if (found.sensors.empty() && found.reason.empty())
    found.reason = fmt::format("there is no {}: this is no Cray node", root);
  return found;
}

const RegisteredReader registered_pm_counters("pm_counters", find_pm_counters);

}  // namespace

}  // namespace plumb::energy
