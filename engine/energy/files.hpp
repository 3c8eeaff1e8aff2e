// Small text files of sysfs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "energy/sensor.hpp"

namespace plumb::energy {

// The first line, or none if the file cannot be read.
std::optional<std::string> line_of(const std::string& path);
// The number at the start of the first line. Throws Error with the reason, and the group to ask for if access is
// denied.
double number_in(const std::string& path);
// The same; none without such a file.
std::optional<double> number_if_any(const std::string& path);
// Names of the entries of a folder that start with `prefix`, sorted; empty without the folder.
std::vector<std::string> entries(const std::string& folder, const std::string& prefix);
// "0000:18:00.0", the PCI device that a sysfs folder's `device` leads to; "" if it is none.
std::string pci_of(const std::string& folder);

// A sensor that is a file.
class FileSensor : public Sensor {
 public:
  FileSensor(SensorInfo info, std::string path, std::string limit_path = {}, double limit_scale = 1e-6)
      : Sensor(std::move(info)),
        path_(std::move(path)),
        limit_path_(std::move(limit_path)),
        limit_scale_(limit_scale) {}
  double read() override { return number_in(path_); }
  Json state() override;

 private:
  std::string path_, limit_path_;  // limit: "" if there is none
  double limit_scale_;             // W of one unit
};

}  // namespace plumb::energy
