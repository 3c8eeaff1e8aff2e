// Selects a rank's device: by index, type, part of the name, map by rank, or default.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace plumb {

struct DeviceWish {
  std::string runtime = {};  // empty = default_runtime
  std::string device = {};   // --device
  std::string map = {};      // --device-map: "2:0:3", "node=0:1", near, far, or a file
  std::string default_runtime = "opencl";
  bool shared = false;  // --share-devices
};

// A rank among all ranks, and among those of its host.
struct Seat {
  int rank = 0, ranks = 1, local_rank = 0, local_ranks = 1;
  std::string host = {};                                            // its name, for a file of nodes
  std::vector<std::vector<int>> cores = {};                         // of the host's ranks, in their order
  std::function<std::vector<int>(const DeviceInfo&)> near_to = {};  // cores near to a device; empty: not known
};

// All devices of all runtimes, numbered; runtimes in the order opencl, others by name, native, hls.
class DeviceCatalogue {
 public:
  DeviceCatalogue();
  const std::vector<DeviceInfo>& infos() const { return infos_; }
  // Reason why a runtime has no devices; "" if it has some.
  std::string why_none(const std::string& runtime) const;
  // The device of a number. Throws UsageError, which begins with `said` and lists the devices.
  DeviceInfo numbered(const std::string& number, const std::string& said) const;
  // Throws UsageError listing the devices. Without --device and --device-map: on the runtime's first platform with the
  // best type (gpu, accelerator, cpu), device number local_rank modulo the number of such devices.
  DeviceInfo choose(const DeviceWish& wish, int rank, int ranks, int local_rank) const;
  DeviceInfo choose(const DeviceWish& wish, const Seat& seat) const;
  std::unique_ptr<Device> open(const DeviceInfo& info) const;

 private:
  std::vector<std::unique_ptr<Runtime>> runtimes_;
  std::vector<DeviceInfo> infos_;
};

// Devices named for a host in a file of lines "HOST 0:1" or "* 0:1" (every other host), with comments after #.
// Throws UsageError.
std::vector<int> devices_in_file(const std::string& path, const std::string& host);

// Parses "2:0:3" and checks it against the number of ranks; throws UsageError.
std::vector<int> parse_device_map(const std::string& text, int ranks);

}  // namespace plumb
