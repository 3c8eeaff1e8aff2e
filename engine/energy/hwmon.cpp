// Sensors of Linux's hardware monitoring (kernel documentation, hwmon/sysfs-interface): energy*_input counts in uJ,
// power*_input and power*_average are in uW.
#include <fmt/format.h>

#include <map>

#include "core/error.hpp"
#include "energy/files.hpp"

namespace plumb::energy {

namespace {

constexpr double unknown_update_s = 0.1;  // without update_interval: assumed, then measured for counters

// Domains by the driver's name. amd_energy counts sockets and cores; others of unknown extent are parts.
Domain domain_of(const std::string& driver, const std::string& label) {
  static const std::map<std::string, Domain> whole{{"amdgpu", Domain::device},       {"i915", Domain::device},
                                                   {"xe", Domain::device},           {"nouveau", Domain::device},
                                                   {"power_meter", Domain::node},    {"acpi_power_meter", Domain::node},
                                                   {"fam15h_power", Domain::package}};
  if (driver == "amd_energy") return label.starts_with("Esocket") ? Domain::package : Domain::part;
  const auto found = whole.find(driver);
  return found == whole.end() ? Domain::part : found->second;
}

std::string digits_at_end(const std::string& text) {
  const std::size_t last = text.find_last_not_of("0123456789");
  return last == std::string::npos ? text : text.substr(last + 1);
}

struct Chip {
  std::string folder, driver, entry;
  double update_s;
};

void add(const Chip& chip, const std::string& file, bool counts, Found& found) {
  const std::string base = chip.folder + "/" + file.substr(0, file.find('_'));
  const std::string channel = file.substr(0, file.find('_'));
  const std::string label = line_of(base + "_label").value_or(channel);
  SensorInfo info;
  info.reader = "hwmon";
  info.name = fmt::format("hwmon:{}/{}/{}", chip.entry, chip.driver, label);
  info.domain = domain_of(chip.driver, label);
  info.kind = counts ? Kind::counter : Kind::power;
  info.unit = counts ? "uJ" : "uW";
  info.interval_s = chip.update_s;
  info.of = info.domain == Domain::device    ? pci_of(chip.folder)
            : info.domain == Domain::package ? digits_at_end(label)
                                             : "0";
  if (info.of.empty()) info.of = chip.entry;
  if (file.ends_with("_average")) {
    info.averaged_s = number_if_any(base + "_average_interval").value_or(chip.update_s * 1e3) * 1e-3;
    info.interval_s = std::max(info.interval_s, info.averaged_s);
  }
  if (const auto accuracy = line_of(base + "_accuracy")) info.accuracy = std::atof(accuracy->c_str()) / 100;
  try {
    number_in(chip.folder + "/" + file);
    found.sensors.push_back(std::make_unique<FileSensor>(std::move(info), chip.folder + "/" + file, base + "_cap"));
  } catch (const Error& error) {
    if (found.reason.empty()) found.reason = error.what();
  }
}

Found find_hwmon(const Place& place) {
  const std::string root = place.root + "/class/hwmon";
  Found found;
  for (const std::string& entry : entries(root, "hwmon")) {
    const std::string folder = root + "/" + entry;
    const auto update = number_if_any(folder + "/update_interval");  // ms
    const Chip chip{folder, line_of(folder + "/name").value_or("unknown"), entry,
                    update && *update > 0 ? *update * 1e-3 : unknown_update_s};
    for (const std::string& file : entries(folder, "energy"))
      if (file.ends_with("_input")) add(chip, file, true, found);
    for (const std::string& file : entries(folder, "power")) {
      const bool averages = file.ends_with("_average");
      const std::string instant = file.substr(0, file.find('_')) + "_input";
      if (file.ends_with("_input") || (averages && !line_of(folder + "/" + instant))) add(chip, file, false, found);
    }
  }
  if (found.sensors.empty() && found.reason.empty())
    found.reason = fmt::format("{} has no channels of energy or power", root);
  return found;
}

const RegisteredReader registered_hwmon("hwmon", find_hwmon);

}  // namespace

}  // namespace plumb::energy
