// Violation times of NVML (NVML API Reference, nvmlDeviceGetViolationStatus): nanoseconds, counted by the driver.
#include "device/throttling.hpp"

#include <algorithm>
#include <utility>

#include "device/cuda/shared_library.hpp"

namespace plumb {

namespace {

struct ViolationTime {
  unsigned long long reference_us, violation_ns;
};
using NvmlDevice = void*;

constexpr std::pair<const char*, int> causes[]{{"power", 0}, {"heat", 1}, {"board", 3}};

struct Nvml {
  int (*start)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*device)(unsigned, NvmlDevice*) = nullptr;
  int (*violation)(NvmlDevice, int, ViolationTime*) = nullptr;
  bool usable = false;

  Nvml() {
    cuda::SharedLibrary library({"libnvidia-ml.so.1"});
    usable = library && library.find(start, "nvmlInit_v2") && library.find(count, "nvmlDeviceGetCount_v2") &&
             library.find(device, "nvmlDeviceGetHandleByIndex_v2") &&
             library.find(violation, "nvmlDeviceGetViolationStatus") && start() == 0;
  }
};

}  // namespace

std::map<std::string, double> throttled_seconds() {
  static const Nvml nvml;
  std::map<std::string, double> seconds;
  unsigned devices = 0;
  if (!nvml.usable || nvml.count(&devices) != 0) return seconds;
  for (unsigned number = 0; number < devices; ++number) {
    NvmlDevice device = nullptr;
    if (nvml.device(number, &device) != 0) continue;
    for (const auto& [cause, policy] : causes) {
      ViolationTime time{};
      if (nvml.violation(device, policy, &time) != 0) continue;
      seconds[cause] = std::max(seconds[cause], static_cast<double>(time.violation_ns) * 1e-9);
    }
  }
  return seconds;
}

}  // namespace plumb
