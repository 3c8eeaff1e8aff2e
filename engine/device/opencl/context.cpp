#include "device/opencl/context.hpp"

#include <cstdio>

namespace plumb::opencl {

namespace {

// "OpenCL 3.0 PoCL …" -> 30. Also true for the platform, whose loader table has the entry points of its version only.
int version_number(const std::string& text) {
  int major = 0, minor = 0;
  return std::sscanf(text.c_str(), "OpenCL %d.%d", &major, &minor) == 2 ? 10 * major + minor : 10;
}

bool has_version(const cl::Device& device, int version) {
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
  return version_number(device.getInfo<CL_DEVICE_VERSION>()) >= version &&
         version_number(platform.getInfo<CL_PLATFORM_VERSION>()) >= version;
}

// Zero where the device does not know the question: what is old or optional must not hide a device.
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
  // Emulated FPGAs are accelerators made of host threads; they admit to the host's memory.
  abilities.on_host = cpu || asked<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE;
  abilities.banks = platform.getInfo<CL_PLATFORM_NAME>().starts_with("Intel(R) FPGA");
  if (has_version(device, 20)) {
    const auto offered = asked<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES);
    abilities.fine_svm = (offered & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0;
    abilities.svm = abilities.fine_svm || (offered & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0;
  }
  return abilities;
}

Context::Context(cl::Device opened, DeviceInfo its_info)
    : device(std::move(opened)),
      info(std::move(its_info)),
      abilities(abilities_of(device)),
      context(device),
      service(context, device) {}

}  // namespace plumb::opencl
