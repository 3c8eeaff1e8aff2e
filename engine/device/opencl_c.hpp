// Devices whose kernels an OpenCL driver compiles: runtimes opencl and sycl.
#pragma once

#include "device/device.hpp"

namespace plumb {

inline bool has_opencl_driver(const DeviceInfo& info) {
  return info.runtime == "opencl" || info.runtime == "sycl";
}

}  // namespace plumb
