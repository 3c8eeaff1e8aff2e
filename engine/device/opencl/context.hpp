// One opened OpenCL device: what its buffers, queues and programs share, and keep alive.
#pragma once

#include <cstdint>
#include <memory>

#include "device/device.hpp"
#include "device/opencl/status.hpp"

namespace plumb::opencl {

// What the device is able to do, asked once, without calling anything newer than its version.
struct Abilities {
  bool on_host = false;   // its memory is the host's, and its threads run on the host's cores
  bool svm = false;       // shared virtual memory (an entry point of OpenCL 2.0; optional again in 3.0)
  bool fine_svm = false;  // which the host may touch at any time
  bool banks = false;     // buffers take Intel's CL_CHANNEL_n_INTELFPGA flags
};

Abilities abilities_of(const cl::Device& device);

// What its kernels may use.
std::vector<Feature> features_of(const cl::Device& device);

struct Context {
  Context(const cl::Device& opened, DeviceInfo its_info);
  // In a context that exists already.
  Context(cl::Device opened, DeviceInfo its_info, cl::Context existing);

  cl::Device device;
  DeviceInfo info;
  Abilities abilities;
  cl::Context context;
  cl::CommandQueue service;     // for what allocation needs done
  std::uint64_t allocated = 0;  // bytes of the device's memory that this process has taken
};

using SharedContext = std::shared_ptr<Context>;

}  // namespace plumb::opencl
