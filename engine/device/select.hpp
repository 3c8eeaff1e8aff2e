// Which device a rank gets: by index, type, part of the name, a map by rank, or the default.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace plumb {

struct DeviceWish {
  std::string runtime = {};  // empty = default_runtime
  std::string device = {};   // --device
  std::string map = {};      // --device-map, "2:0:3"
  std::string default_runtime = "opencl";
};

// All devices of all runtimes, numbered; runtimes in the order opencl, others by name, native last.
class DeviceCatalogue {
 public:
  DeviceCatalogue();
  const std::vector<DeviceInfo>& infos() const { return infos_; }
  // Why a runtime shows no device: "" when it shows some.
  std::string why_none(const std::string& runtime) const;
  // Throws UsageError naming what there is. Without --device and --device-map: of the runtime's first platform that has
  // the best type (gpu, accelerator, cpu), device number local_rank modulo the number of such devices.
  DeviceInfo choose(const DeviceWish& wish, int rank, int ranks, int local_rank) const;
  std::unique_ptr<Device> open(const DeviceInfo& info) const;

 private:
  std::vector<std::unique_ptr<Runtime>> runtimes_;
  std::vector<DeviceInfo> infos_;
};

// Parses "2:0:3" and checks it against the ranks; throws UsageError.
std::vector<int> parse_device_map(const std::string& text, int ranks);

}  // namespace plumb
