// Runtime `hls`: HLS C++ in C simulation. Kernels are compiled by g++ and run as threads of this process; memory is the
// host's. It tests kernels; its speed is not a board's.
#include <fmt/format.h>
#include <sys/utsname.h>

#include "device/hls/buffer.hpp"
#include "device/hls/queue.hpp"
#include "device/host_share.hpp"

namespace plumb::hls {

namespace {

class HlsDevice final : public Device {
 public:
  explicit HlsDevice(DeviceInfo info) : info_(std::move(info)) {}
  const DeviceInfo& info() const override { return info_; }

  std::unique_ptr<Buffer> allocate(std::size_t bytes, const Placement& placement) override {
    if (placement.kind != MemoryKind::automatic && placement.kind != MemoryKind::host)
      throw Unsupported(
          fmt::format("runtime hls has no memory of kind {}: C simulation has host memory only, and a "
                      "board's banks are chosen when it is linked",
                      to_string(placement.kind)));
    check_host_bytes(bytes);
    return std::make_unique<HlsBuffer>(bytes, placement);
  }
  // "kind:" and the segment's handle
  std::string share(const Buffer& buffer) override {
    const HostSegment* segment = own(buffer).segment();
    if (segment == nullptr) throw Error("runtime hls cannot share this buffer: it was not allocated as shared");
    return to_string(buffer.placement().kind) + ":" + segment->handle();
  }
  std::unique_ptr<Buffer> open_shared(const std::string& handle) override {
    const std::size_t colon = handle.find(':');
    return std::make_unique<HlsBuffer>(std::make_unique<HostSegment>(handle.substr(colon + 1)),
                                       parse_placement(handle.substr(0, colon)).kind);
  }
  std::unique_ptr<Queue> make_queue(bool timed) override { return std::make_unique<HlsQueue>(timed); }
  std::unique_ptr<Queue> make_bare_queue() override { return std::make_unique<HlsBareQueue>(); }
  std::unique_ptr<Program> build(const KernelSource& source) override { return std::make_unique<HlsProgram>(source); }

 private:
  DeviceInfo info_;
};

class HlsRuntime final : public Runtime {
 public:
  std::string name() const override { return "hls"; }
  std::vector<DeviceInfo> infos() override {
    const std::string compiler = find_compiler();
    if (compiler.empty()) return {};
    utsname system{};
    uname(&system);
    const HostShare share = host_share();
    DeviceInfo info;
    info.runtime = name();
    info.platform = "HLS C++ in C simulation (Emulation)";
    info.name = "C simulation";
    info.type = "accelerator";
    info.vendor = "this process";
    info.version = "Vitis HLS C++17";
    info.driver = compiler;
    info.compute_units = share.cores;
    info.memory_bytes = info.largest_buffer_bytes = share.memory_bytes;
    info.cache_bytes = share.cache_bytes;
    info.local_bytes = kernel_stack_bytes / 2;
    info.view_alignment = 512;  // of the widest vector that a kernel reads (16 complex numbers in double: 256 bytes)
    info.memory_kinds = {MemoryKind::automatic, MemoryKind::host};
    info.features = {Feature::fp16, Feature::fp64};
    return {info};
  }
  std::string why_none() const override { return why_no_compiler; }
  std::unique_ptr<Device> open(const DeviceInfo& info) override { return std::make_unique<HlsDevice>(info); }
};

const Registered<RuntimeFactory> registered_hls("hls", [] { return std::make_unique<HlsRuntime>(); });

}  // namespace

}  // namespace plumb::hls
