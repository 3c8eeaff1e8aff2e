// Runtime `cuda`: NVIDIA GPUs through the driver interface and the run-time compiler, both loaded at run time.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <fstream>

#include "device/build_time.hpp"
#include "device/cuda/bare_queue.hpp"
#include "device/cuda/compiler.hpp"
#include "device/cuda/queue.hpp"
#include "device/pci.hpp"
#include "device/resident.hpp"

namespace plumb::cuda {

namespace {

class BuiltProgram final : public Program {
 public:
  BuiltProgram(const SharedContext& context, const KernelSource& source)
      : program_(std::make_shared<CudaProgram>(context, source)) {}
  std::unique_ptr<Kernel> kernel(const std::string& name) override { return program_->kernel(name); }
  std::vector<std::string> kernel_names() const override { return program_->kernel_names(); }

 private:
  std::shared_ptr<CudaProgram> program_;  // kept alive by its kernels
};

class CudaDevice final : public Device, public ResidentGroups {
 public:
  explicit CudaDevice(SharedContext context) : context_(std::move(context)) {}
  const DeviceInfo& info() const override { return context_->info; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes, const Placement& placement) override {
    return std::make_unique<CudaBuffer>(context_, bytes, placement);
  }
  // Handle of shared memory: host: its segment's; GPU: size and the driver's handle as hexadecimal bytes.
  std::string share(const Buffer& buffer) override {
    const CudaBuffer& mine = own(buffer);
    if (mine.segment() != nullptr) return "host " + mine.segment()->handle();
    const IpcHandle handle = mine.handle();
    return fmt::format("gpu {} ", mine.size()) + std::string(std::begin(handle.bytes), std::end(handle.bytes));
  }
  std::unique_ptr<Buffer> open_shared(const std::string& handle) override {
    if (handle.starts_with("host "))
      return std::make_unique<CudaBuffer>(context_, std::make_unique<HostSegment>(handle.substr(5)));
    const std::size_t space = handle.find(' ', 4);
    IpcHandle opened{};
    if (!handle.starts_with("gpu ") || handle.size() != space + 1 + sizeof opened.bytes)
      throw Error("invalid handle of a GPU's memory");
    std::memcpy(opened.bytes, handle.data() + space + 1, sizeof opened.bytes);
    return std::make_unique<CudaBuffer>(context_, std::stoull(handle.substr(4)), opened);
  }
  std::unique_ptr<Queue> make_queue(bool timed) override { return std::make_unique<CudaQueue>(context_, timed); }
  std::unique_ptr<Queue> make_urgent_queue() override { return std::make_unique<CudaQueue>(context_, false, true); }
  std::unique_ptr<Queue> make_bare_queue() override { return std::make_unique<CudaBareQueue>(context_); }
  std::unique_ptr<Program> build(const KernelSource& source) override {
    const TimedBuild timed;
    return std::make_unique<BuiltProgram>(context_, source);
  }
  std::uint64_t resident_groups(Kernel& kernel, const KernelRange& range) override {
    auto& mine = dynamic_cast<CudaKernel&>(kernel);
    context_->use();
    mine.allow_local(range.local_bytes);
    int of_unit = 0;
    check(driver().resident_groups(&of_unit, mine.function(), static_cast<int>(range.local), range.local_bytes),
          "ask how many groups are resident");
    return static_cast<std::uint64_t>(of_unit) * context_->info.compute_units;
  }

 private:
  SharedContext context_;
};

int attribute(DeviceNumber device, Attribute which) {
  int value = 0;
  check(driver().device_attribute(&value, which, device), "query a GPU's attributes");
  return value;
}

// "580.95.05", as the kernel's module says
std::string driver_text() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string text;
  return std::getline(file, text) ? text : "unknown";
}

std::string interface_version() {
  int version = 0;
  check(driver().driver_version(&version), "query the driver's version");
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

DeviceInfo describe(DeviceNumber device, int ordinal) {
  std::array<char, 256> name{};
  check(driver().device_name(name.data(), static_cast<int>(name.size()), device), "query a GPU's name");
  std::size_t memory = 0;
  check(driver().device_total_memory(&memory, device), "query a GPU's memory");
  DeviceInfo info;
  info.ordinal = ordinal;
  info.runtime = "cuda";
  info.platform = "NVIDIA CUDA";
  info.name = name.data();
  info.type = "gpu";
  info.vendor = "NVIDIA Corporation";
  info.version = interface_version();
  info.driver = driver_text();
  info.compute_units = static_cast<unsigned>(attribute(device, Attribute::multiprocessors));
  info.memory_bytes = info.largest_buffer_bytes = memory;
  info.cache_bytes = static_cast<std::uint64_t>(attribute(device, Attribute::l2_cache_bytes));
  info.local_bytes = static_cast<std::uint64_t>(attribute(device, Attribute::group_shared_bytes));
  info.launch_local_bytes = static_cast<std::uint64_t>(attribute(device, Attribute::largest_group_shared_bytes));
  info.largest_group = static_cast<unsigned>(attribute(device, Attribute::largest_group));
  info.view_alignment = 512;  // cuMemAlloc's alignment: loads and stores are as wide as at a buffer's start
  info.memory_kinds = {MemoryKind::automatic, MemoryKind::host};
  if (attribute(device, Attribute::concurrent_managed_access) != 0) info.memory_kinds.push_back(MemoryKind::svm);
  info.features = {Feature::fp16, Feature::fp64, Feature::atomics64};
  return info;
}

class CudaRuntime final : public Runtime {
 public:
  std::string name() const override { return "cuda"; }

  std::vector<DeviceInfo> infos() override {
    std::vector<DeviceInfo> infos;
    problem_ = why_no_driver();
    if (find_driver() == nullptr) return infos;
    try {
      int count = 0;
      check(driver().device_count(&count), "count the GPUs");
      for (int ordinal = 0; ordinal < count; ++ordinal) infos.push_back(describe(number_of(ordinal), ordinal));
    } catch (const Error& error) {
      problem_ = error.what();
      infos.clear();
    }
    return infos;
  }

  std::string why_none() const override {
    return problem_.empty() ? "NVIDIA's driver shows no GPU; see nvidia-smi and CUDA_VISIBLE_DEVICES" : problem_;
  }

  std::unique_ptr<Device> open(const DeviceInfo& info) override {
    const DeviceNumber device = number_of(info.ordinal);
    return std::make_unique<CudaDevice>(std::make_shared<DeviceContext>(
        device, info, attribute(device, Attribute::compute_major), attribute(device, Attribute::compute_minor)));
  }

 private:
  static DeviceNumber number_of(int ordinal) {
    DeviceNumber device = 0;
    check(driver().device_get(&device, ordinal), "get a GPU's handle");
    return device;
  }

  std::string problem_;
};

std::string pci_address_of(int ordinal) {
  try {
    DeviceNumber device = 0;
    check(driver().device_get(&device, ordinal), "get a GPU's handle");
    return fmt::format("{:04x}:{:02x}:{:02x}.0", attribute(device, Attribute::pci_domain),
                       attribute(device, Attribute::pci_bus), attribute(device, Attribute::pci_device));
  } catch (const Error&) {
    return "";
  }
}

const Registered<PciAddressOf> registered_pci("cuda", pci_address_of);
const Registered<RuntimeFactory> registered_cuda("cuda", [] { return std::make_unique<CudaRuntime>(); });

}  // namespace

}  // namespace plumb::cuda
