// An open OpenCL device: the state that its buffers, queues and programs share and keep alive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "device/device.hpp"
#include "device/opencl/status.hpp"
#include "device/xclbin.hpp"

namespace plumb::opencl {

// Capabilities of the device, queried once without calls newer than its version.
struct Abilities {
  bool on_host = false;       // uses the host's memory and cores
  bool svm = false;           // shared virtual memory (an entry point of OpenCL 2.0; optional again in 3.0)
  bool fine_svm = false;      // accessible by the host at any time
  bool banks = false;         // buffers take Intel's CL_CHANNEL_n_INTELFPGA and CL_MEM_HETEROGENEOUS_INTELFPGA flags
  bool by_bitstream = false;  // an AMD FPGA: buffers take CL_MEM_EXT_PTR_XILINX with a bank of the loaded bitstream
};

Abilities abilities_of(const cl::Device& device);

// Optional features of its kernels.
std::vector<Feature> features_of(const cl::Device& device);

struct Context {
  Context(const cl::Device& opened, DeviceInfo its_info);
  // In an existing context.
  Context(cl::Device opened, DeviceInfo its_info, cl::Context existing);

  // Loads an AMD FPGA's bitstream, whose banks buffers may name; ignores other files and devices.
  void take_image(const std::vector<char>& image);

  cl::Device device;
  DeviceInfo info;
  Abilities abilities;
  cl::Context context;
  cl::CommandQueue service;     // for allocation
  std::uint64_t allocated = 0;  // bytes of the device's memory allocated by this process
  std::optional<Xclbin> bitstream;
  cl::Program loaded;  // keeps it on the device
};

using SharedContext = std::shared_ptr<Context>;

}  // namespace plumb::opencl
