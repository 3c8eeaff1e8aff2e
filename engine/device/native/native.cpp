// Runtime `native`: the cores of this process as one device. Memory is the host's, kernels are functions, and commands
// are complete when enqueue_* returns.
#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstring>
#include <fstream>

#include "core/seconds.hpp"
#include "device/host_buffer.hpp"
#include "device/host_share.hpp"

namespace plumb {

namespace {

std::byte* bytes_of(const BufferView& view) {
  std::byte* bytes = view.host_pointer();
  if (bytes == nullptr) throw Error("runtime native was given a buffer of another runtime");
  check_view(view);
  return bytes;
}

class NativeKernel final : public Kernel {
 public:
  explicit NativeKernel(KernelSource::NativeKernel function) : function_(std::move(function)) {}
  void set(const std::vector<KernelArgument>& arguments) override { arguments_ = arguments; }
  void set(std::size_t index, const KernelArgument& argument) override { arguments_.at(index) = argument; }
  void run(const KernelRange& range) const { function_(arguments_, range); }

 private:
  KernelSource::NativeKernel function_;
  std::vector<KernelArgument> arguments_;
};

class NativeProgram final : public Program {
 public:
  explicit NativeProgram(const KernelSource& source) : name_(source.name), kernels_(source.native) {}
  std::unique_ptr<Kernel> kernel(const std::string& name) override {
    for (const auto& [kernel_name, function] : kernels_)
      if (kernel_name == name) return std::make_unique<NativeKernel>(function);
    throw Error(unknown_name("native kernel in " + name_, name, kernel_names()));
  }
  std::vector<std::string> kernel_names() const override {
    std::vector<std::string> names;
    for (const auto& kernel : kernels_) names.push_back(kernel.first);
    return names;
  }

 private:
  std::string name_;
  std::vector<std::pair<std::string, KernelSource::NativeKernel>> kernels_;
};

class NativeQueue final : public Queue {
 public:
  explicit NativeQueue(bool timed) : timed_(timed) {}

  void enqueue_read(const BufferView& from, std::byte* to) override {
    run([&] { move_bytes(bytes_of(from), to, from.size); });
  }
  void enqueue_write(const std::byte* from, const BufferView& to) override {
    run([&] { move_bytes(from, bytes_of(to), to.size); });
  }
  void enqueue_copy(const BufferView& from, const BufferView& to) override {
    if (from.size != to.size) throw Error(fmt::format("a copy of {} bytes into {} bytes", from.size, to.size));
    run([&] { move_bytes(bytes_of(from), bytes_of(to), from.size); });
  }
  void enqueue(Kernel& kernel, const KernelRange& range) override {
    const auto* own = dynamic_cast<NativeKernel*>(&kernel);
    if (own == nullptr) throw Error("runtime native was given a kernel of another runtime");
    run([&] { own->run(range); });
  }
  void finish() override {
    if (under_way_) time_ = DeviceTime{began_, now_seconds()};
    under_way_ = false;
  }
  bool finished() override { return true; }
  std::optional<DeviceTime> span() const override { return time_; }

 private:
  template <class Command>
  void run(Command command) {
    if (timed_ && !under_way_) {
      began_ = now_seconds();
      under_way_ = true;
    }
    command();
  }

  bool timed_;
  bool under_way_ = false;  // commands since the last finish(), if timed
  double began_ = 0;
  std::optional<DeviceTime> time_;
};

// Commands executed at once, without a clock.
class NativeBareQueue final : public Queue {
 public:
  void enqueue_read(const BufferView& from, std::byte* to) override {
    std::memmove(to, from.host_pointer(), from.size);
  }
  void enqueue_write(const std::byte* from, const BufferView& to) override {
    std::memmove(to.host_pointer(), from, to.size);
  }
  void enqueue_copy(const BufferView& from, const BufferView& to) override {
    std::memmove(to.host_pointer(), from.host_pointer(), from.size);
  }
  void enqueue(Kernel& kernel, const KernelRange& range) override { dynamic_cast<NativeKernel&>(kernel).run(range); }
  void finish() override {}
  bool finished() override { return true; }
};

class NativeDevice final : public Device {
 public:
  explicit NativeDevice(DeviceInfo info) : info_(std::move(info)) {}
  const DeviceInfo& info() const override { return info_; }

  std::unique_ptr<Buffer> allocate(std::size_t bytes, const Placement& placement) override {
    if (placement.kind != MemoryKind::automatic && placement.kind != MemoryKind::host)
      throw Unsupported(fmt::format("runtime native has no memory of kind {}: its memory is the host's (default, host)",
                                    to_string(placement.kind)));
    check_host_bytes(bytes);
    return std::make_unique<HostBuffer>(bytes, placement);
  }
  std::string share(const Buffer& buffer) override {
    const auto* own = dynamic_cast<const HostBuffer*>(&buffer);
    if (own == nullptr || own->segment() == nullptr)
      throw Error("runtime native cannot share this buffer: it was not allocated as shared");
    return own->segment()->handle();
  }
  std::unique_ptr<Buffer> open_shared(const std::string& handle) override {
    return std::make_unique<HostBuffer>(std::make_unique<HostSegment>(handle), MemoryKind::automatic);
  }
  std::unique_ptr<Queue> make_queue(bool timed) override { return std::make_unique<NativeQueue>(timed); }
  std::unique_ptr<Queue> make_bare_queue() override { return std::make_unique<NativeBareQueue>(); }
  std::unique_ptr<Program> build(const KernelSource& source) override {
    if (source.native.empty()) throw Unsupported(fmt::format("{} has no form for runtime native", source.name));
    return std::make_unique<NativeProgram>(source);
  }

 private:
  DeviceInfo info_;
};

// "model name : AMD EPYC 9654"; without such a line, the kernel's name of the architecture.
std::string cpu_entry(const std::string& key, const std::string& otherwise) {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.starts_with(key))
      if (const auto value = line.find_first_not_of(" \t", line.find(':') + 1); value != std::string::npos)
        return line.substr(value);
  return otherwise;
}

class NativeRuntime final : public Runtime {
 public:
  std::string name() const override { return "native"; }
  std::vector<DeviceInfo> infos() override {
    utsname system{};
    uname(&system);
    const HostShare share = host_share();
    DeviceInfo info;
    info.runtime = name();
    info.platform = "this process";
    info.name = cpu_entry("model name", system.machine);
    info.type = "native";
    info.vendor = cpu_entry("vendor_id", "unknown");
    info.version = "C++20";
    info.driver = fmt::format("{} {}", system.sysname, system.release);
    info.compute_units = share.cores;
    info.memory_bytes = info.largest_buffer_bytes = share.memory_bytes;
    info.cache_bytes = share.cache_bytes;
    info.memory_kinds = {MemoryKind::automatic, MemoryKind::host};
    info.features = {Feature::fp16, Feature::fp64, Feature::atomics64};  // half for storage, computed in float
    return {info};
  }
  std::string why_none() const override { return "this process may run on no core (empty affinity mask)"; }
  std::unique_ptr<Device> open(const DeviceInfo& info) override { return std::make_unique<NativeDevice>(info); }
};

const Registered<RuntimeFactory> registered_native("native", [] { return std::make_unique<NativeRuntime>(); });

}  // namespace

}  // namespace plumb
