#include "device/opencl/context.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace plumb::opencl {

namespace {

// "OpenCL 3.0 PoCL …" -> 30. Also for the platform, whose loader table has only the entry points of its version.
int version_number(const std::string& text) {
  int major = 0, minor = 0;
  return std::sscanf(text.c_str(), "OpenCL %d.%d", &major, &minor) == 2 ? 10 * major + minor : 10;
}

bool has_version(const cl::Device& device, int version) {
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
  return version_number(device.getInfo<CL_DEVICE_VERSION>()) >= version &&
         version_number(platform.getInfo<CL_PLATFORM_VERSION>()) >= version;
}

// Zero if the device rejects the query: old or optional properties must not hide a device.
template <class Answer>
Answer asked(const cl::Device& device, cl_device_info question) {
  Answer answer{};
  return clGetDeviceInfo(device(), question, sizeof answer, &answer, nullptr) == CL_SUCCESS ? answer : Answer{};
}

}  // namespace

Abilities abilities_of(const cl::Device& device) {
  Abilities abilities;
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
  const bool cpu = (device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) != 0;
  // Emulated FPGAs are accelerators that run on host threads and share the host's memory.
  const bool amd_board = platform.getInfo<CL_PLATFORM_NAME>().starts_with("Xilinx");  // says so of any board
  abilities.on_host = cpu || (asked<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE && !amd_board);
  abilities.banks = platform.getInfo<CL_PLATFORM_NAME>().starts_with("Intel(R) FPGA");
  abilities.by_bitstream = amd_board;
  if (has_version(device, 20)) {
    const auto offered = asked<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES);
    abilities.fine_svm = (offered & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0;
    abilities.svm = abilities.fine_svm || (offered & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0;
  }
  return abilities;
}

std::vector<Feature> features_of(const cl::Device& device) {
  const std::string extensions = " " + device.getInfo<CL_DEVICE_EXTENSIONS>() + " ";
  const auto has = [&](const char* extension) {
    return extensions.find(fmt::format(" {} ", extension)) != std::string::npos;
  };
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
  std::vector<Feature> features;
  // Intel's FPGA compiler supports half without listing the extension.
  if (has("cl_khr_fp16") || platform.getInfo<CL_PLATFORM_NAME>().starts_with("Intel(R) FPGA"))
    features.push_back(Feature::fp16);
  if (has("cl_khr_fp64") || asked<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0)
    features.push_back(Feature::fp64);
  if (has("cl_khr_int64_extended_atomics")) features.push_back(Feature::atomics64);
  if (has("cl_intel_channels")) features.push_back(Feature::channels);
  if (has_version(device, 20) && asked<cl_uint>(device, CL_DEVICE_MAX_PIPE_ARGS) > 0)
    features.push_back(Feature::pipes);
  return features;
}

Context::Context(const cl::Device& opened, DeviceInfo its_info)
    : Context(opened, std::move(its_info), cl::Context(opened)) {}

Context::Context(cl::Device opened, DeviceInfo its_info, cl::Context existing)
    : device(std::move(opened)),
      info(std::move(its_info)),
      abilities(abilities_of(device)),
      context(std::move(existing)),
      service(context, device) {}

void Context::take_image(const std::vector<char>& image) {
  if (!abilities.by_bitstream || !is_xclbin(image)) return;
  Xclbin parsed = parse_xclbin(image);
  guarded("load the bitstream on " + info.name,
          [&] { loaded = cl::Program(context, {device}, {std::vector<unsigned char>(image.begin(), image.end())}); });
  bitstream = std::move(parsed);
}

}  // namespace plumb::opencl
