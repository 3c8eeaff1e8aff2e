// Runtime `opencl`: every device of every platform of the loader.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "device/board_image.hpp"
#include "device/build_time.hpp"
#include "device/host_share.hpp"
#include "device/opencl/adopt.hpp"
#include "device/opencl/bare_queue.hpp"
#include "device/opencl/queue.hpp"
#include "device/pci.hpp"
#include "device/resident.hpp"

namespace plumb::opencl {

namespace {

class OpenclDevice final : public Device, public ResidentGroups {
 public:
  explicit OpenclDevice(SharedContext context) : context_(std::move(context)) {}
  const DeviceInfo& info() const override { return context_->info; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes, const Placement& placement) override {
    return std::make_unique<OpenclBuffer>(context_, bytes, placement);
  }
  // "kind:" and the segment's handle
  std::string share(const Buffer& buffer) override {
    const HostSegment* segment = own(buffer).segment();
    if (segment == nullptr) throw Error("runtime opencl cannot share this buffer: it was not allocated as shared");
    return to_string(buffer.placement().kind) + ":" + segment->handle();
  }
  std::unique_ptr<Buffer> open_shared(const std::string& handle) override {
    const std::size_t colon = handle.find(':');
    return std::make_unique<OpenclBuffer>(context_, std::make_unique<HostSegment>(handle.substr(colon + 1)),
                                          parse_placement(handle.substr(0, colon)).kind);
  }
  std::unique_ptr<Queue> make_queue(bool timed) override { return std::make_unique<OpenclQueue>(context_, timed); }
  std::unique_ptr<Queue> make_bare_queue() override { return std::make_unique<OpenclBareQueue>(context_); }
  std::unique_ptr<Program> build(const KernelSource& source) override {
    const TimedBuild timed;
    return std::make_unique<OpenclProgram>(context_, source);
  }
  // A CPU's compute units are threads that run a group to its end.
  std::uint64_t resident_groups(Kernel&, const KernelRange&) override {
    return info().type == "cpu" ? info().compute_units : 0;
  }
  Context& context() { return *context_; }

 private:
  SharedContext context_;
};

// Ranks bound to their own cores must not each start threads for the whole machine. PoCL reads this variable once, at
// the first call. (Its threads inherit the mask; POCL_AFFINITY=1 would pin them to cores 0, 1, … regardless.)
void limit_pocl_threads() {
  if (std::getenv("POCL_CPU_MAX_CU_COUNT") != nullptr) return;  // newer name of the same variable
  setenv("POCL_MAX_PTHREAD_COUNT", std::to_string(host_share().cores).c_str(), 0);
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\n");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

// "OpenCL 3.0 PoCL HSTR: …" -> "OpenCL 3.0" without the vendor's suffix
std::string version_of(const cl::Device& device) {
  const std::string text = trimmed(device.getInfo<CL_DEVICE_VERSION>());
  return text.substr(0, text.find(' ', sizeof "OpenCL"));
}

std::string type_of(const cl::Device& device) {
  const cl_device_type type = device.getInfo<CL_DEVICE_TYPE>();
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return "gpu";
  return (type & CL_DEVICE_TYPE_CPU) != 0 ? "cpu" : "accelerator";
}

// AMD's names no emulation of its boards.
std::string platform_name(const cl::Platform& platform) {
  const std::string name = trimmed(platform.getInfo<CL_PLATFORM_NAME>());
  const char* emulation = std::getenv("XCL_EMULATION_MODE");
  return name != "Xilinx" || emulation == nullptr ? name : fmt::format("{} (Emulation, {})", name, emulation);
}

DeviceInfo describe(const cl::Platform& platform, const cl::Device& device) {
  DeviceInfo info;
  info.runtime = "opencl";
  info.platform = platform_name(platform);
  info.name = trimmed(device.getInfo<CL_DEVICE_NAME>());
  info.type = type_of(device);
  info.vendor = trimmed(device.getInfo<CL_DEVICE_VENDOR>());
  info.version = version_of(device);
  info.driver = trimmed(device.getInfo<CL_DRIVER_VERSION>());
  info.compute_units = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  info.memory_bytes = device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>();
  info.largest_buffer_bytes = device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
  info.local_bytes = device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
  info.largest_group = static_cast<unsigned>(device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>());
  // In bits; PoCL's 128 bytes and NVIDIA's 512 are multiples of a cache line.
  info.view_alignment = std::max<std::size_t>(info.view_alignment, device.getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8);
  info.features = features_of(device);
  const Abilities abilities = abilities_of(device);
  // CPU drivers report either a core's cache or the socket's.
  info.cache_bytes = abilities.on_host ? host_share().cache_bytes : device.getInfo<CL_DEVICE_GLOBAL_MEM_CACHE_SIZE>();
  info.memory_kinds = {MemoryKind::automatic, MemoryKind::host};
  if (abilities.svm) info.memory_kinds.push_back(MemoryKind::svm);
  if (abilities.banks || abilities.by_bitstream)
    info.memory_kinds.insert(info.memory_kinds.end(), {MemoryKind::ddr, MemoryKind::hbm});
  if (abilities.by_bitstream) {
    constexpr std::uint64_t unknown = std::uint64_t{1} << 40;  // before a bitstream is loaded
    info.memory_kinds.push_back(MemoryKind::plram);
    if (info.name.empty()) info.name = "AMD FPGA";
    if (info.memory_bytes == 0) info.memory_bytes = unknown;
    info.compute_units = std::max(info.compute_units, decltype(info.compute_units){1});
    info.features = {Feature::fp16, Feature::fp64};  // as the bitstream has them
  }
  return info;
}

// Of all devices that were listed, by ordinal.
std::vector<std::string>& pci_addresses() {
  static std::vector<std::string> addresses;
  return addresses;
}

// By cl_khr_pci_bus_info, or NVIDIA's own queries (cl_nv_device_attribute_query); "" without either.
std::string pci_address_of(const cl::Device& device) {
  struct {
    cl_uint domain, bus, device, function;
  } info{};
  constexpr cl_device_info khronos = 0x410F, nvidia_bus = 0x4008, nvidia_slot = 0x4009, nvidia_domain = 0x400A;
  const auto query = [&](cl_device_info what, auto& value) {
    return clGetDeviceInfo(device(), what, sizeof value, &value, nullptr) == CL_SUCCESS;
  };
  if (!query(khronos, info)) {
    cl_uint slot = 0;
    info = {};
    if (!query(nvidia_bus, info.bus) || !query(nvidia_slot, slot)) return "";
    if (!query(nvidia_domain, info.domain)) info.domain = 0;
    info.device = slot >> 3;
    info.function = slot & 7;
  }
  return fmt::format("{:04x}:{:02x}:{:02x}.{}", info.domain, info.bus, info.device, info.function);
}

class OpenclRuntime final : public Runtime {
 public:
  std::string name() const override { return "opencl"; }

  std::vector<DeviceInfo> infos() override {
    limit_pocl_threads();
    devices_.clear();
    silent_.clear();
    pci_addresses().clear();
    std::vector<cl::Platform> platforms;
    try {
      cl::Platform::get(&platforms);
    } catch (const cl::Error& error) {
      if (error.err() != CL_PLATFORM_NOT_FOUND_KHR) silent_.push_back("the loader says " + status_name(error.err()));
    }
    std::vector<DeviceInfo> infos;
    for (const cl::Platform& platform : platforms) add(platform, infos);
    return infos;
  }

  std::string why_none() const override {
    if (silent_.empty())
      return "no OpenCL platform found; apt-get install pocl-opencl-icd, or plumb setup intel-cpu, or point "
             "OCL_ICD_VENDORS at "
             "your vendor's folder";
    return fmt::format(
        "no OpenCL platform shows a device ({}); see POCL_DEVICES, CUDA_VISIBLE_DEVICES or the vendor's own "
        "variable, or point OCL_ICD_VENDORS at another folder",
        fmt::join(silent_, "; "));
  }

  std::unique_ptr<Device> open(const DeviceInfo& info) override {
    if (info.ordinal < 0 || static_cast<std::size_t>(info.ordinal) >= devices_.size())
      throw Error(
          fmt::format("OpenCL shows {} devices, but number {} was to be opened", devices_.size(), info.ordinal));
    const cl::Device& device = devices_[static_cast<std::size_t>(info.ordinal)];
    return guarded("open " + info.name,
                   [&] { return std::make_unique<OpenclDevice>(std::make_shared<Context>(device, info)); });
  }

 private:
  // A failing platform (a driver without its device, a broken install) must not hide the others.
  void add(const cl::Platform& platform, std::vector<DeviceInfo>& infos) {
    std::vector<cl::Device> found;
    std::string name = "a platform";
    try {
      name = trimmed(platform.getInfo<CL_PLATFORM_NAME>());
      platform.getDevices(CL_DEVICE_TYPE_ALL, &found);
      if (found.empty()) silent_.push_back(name + " has no device");
      for (const cl::Device& device : found) {
        infos.push_back(describe(platform, device));
        infos.back().ordinal = static_cast<int>(devices_.size());
        devices_.push_back(device);
        const bool on_bus = infos.back().type == "gpu" || infos.back().type == "accelerator";
        pci_addresses().push_back(on_bus ? pci_address_of(device) : "");
      }
    } catch (const cl::Error& error) {
      silent_.push_back(fmt::format("{}: {}", name, status_name(error.err())));
    }
  }

  std::vector<cl::Device> devices_;
  std::vector<std::string> silent_;  // platforms without a device, and the reason
};

const Registered<PciAddressOf> registered_pci("opencl", [](int ordinal) {
  const auto& all = pci_addresses();
  return ordinal >= 0 && static_cast<std::size_t>(ordinal) < all.size() ? all[static_cast<std::size_t>(ordinal)] : "";
});
const Registered<TakeBoardImage> registered_image("opencl", [](Device& device, const std::vector<char>& image) {
  dynamic_cast<OpenclDevice&>(device).context().take_image(image);
});
const Registered<RuntimeFactory> registered_opencl("opencl", [] { return std::make_unique<OpenclRuntime>(); });

}  // namespace

Adopted adopt(cl_mem memory, std::size_t size) {
  return guarded("use a memory object of the program's own", [&] {
    cl::Buffer buffer(memory, true);
    const auto bytes = buffer.getInfo<CL_MEM_SIZE>();
    if (bytes < size) throw Error(fmt::format("memory object has {} bytes, but {} were declared", bytes, size));
    const auto existing = buffer.getInfo<CL_MEM_CONTEXT>();
    const cl::Device device = existing.getInfo<CL_CONTEXT_DEVICES>().at(0);
    const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
    const auto context = std::make_shared<Context>(device, describe(platform, device), existing);
    return Adopted{std::make_unique<OpenclDevice>(context), std::make_unique<OpenclBuffer>(context, buffer, size)};
  });
}

}  // namespace plumb::opencl
