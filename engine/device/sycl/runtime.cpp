// Runtime `sycl`: every device that SYCL shows, through the plug-in named by PLUMBLINE_SYCL.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "device/build_time.hpp"
#include "device/host_share.hpp"
#include "device/resident.hpp"
#include "device/sycl/queue.hpp"

namespace plumb::sycl {

namespace {

using sycl_plugin::DeviceFacts;
using sycl_plugin::DeviceType;

class SyclDevice final : public Device, public ResidentGroups {
 public:
  explicit SyclDevice(SharedContext context) : context_(std::move(context)) {}
  const DeviceInfo& info() const override { return context_->info; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes, const Placement& placement) override {
    return std::make_unique<SyclBuffer>(context_, bytes, placement);
  }
  // "kind:" and the segment's handle
  std::string share(const Buffer& buffer) override {
    const HostSegment* segment = own(buffer).segment();
    if (segment == nullptr) throw Error("runtime sycl cannot share this buffer: it was not allocated as shared");
    return to_string(buffer.placement().kind) + ":" + segment->handle();
  }
  std::unique_ptr<Buffer> open_shared(const std::string& handle) override {
    const std::size_t colon = handle.find(':');
    return std::make_unique<SyclBuffer>(context_, std::make_unique<HostSegment>(handle.substr(colon + 1)),
                                        parse_placement(handle.substr(0, colon)).kind);
  }
  std::unique_ptr<Queue> make_queue(bool timed) override { return std::make_unique<SyclQueue>(context_, timed); }
  std::unique_ptr<Queue> make_bare_queue() override { return std::make_unique<SyclBareQueue>(context_); }
  std::unique_ptr<Program> build(const KernelSource& source) override {
    const TimedBuild timed;
    return std::make_unique<SyclProgram>(context_, source);
  }
  // As through OpenCL.
  std::uint64_t resident_groups(Kernel&, const KernelRange&) override {
    return info().type == "cpu" ? info().compute_units : 0;
  }

 private:
  SharedContext context_;
};

std::string type_of(DeviceType type) {
  return type == DeviceType::cpu ? "cpu" : type == DeviceType::gpu ? "gpu" : "accelerator";
}

std::vector<MemoryKind> kinds_of(const DeviceFacts& facts) {
  std::vector<MemoryKind> kinds{MemoryKind::automatic};
  if (facts.usm_host) kinds.push_back(MemoryKind::host);
  if (facts.usm_shared) kinds.push_back(MemoryKind::svm);
  return kinds;
}

std::vector<Feature> features_of(const DeviceFacts& facts) {
  std::vector<Feature> features;
  if (facts.fp16) features.push_back(Feature::fp16);
  if (facts.fp64) features.push_back(Feature::fp64);
  if (facts.atomic64) features.push_back(Feature::atomics64);
  return features;
}

// "OpenCL 3.1 (Build 0)" -> "SYCL 2020 over OpenCL"
DeviceInfo describe(const DeviceFacts& facts, int ordinal) {
  DeviceInfo info;
  info.ordinal = ordinal;
  info.runtime = "sycl";
  info.platform = facts.platform;
  info.name = facts.name;
  info.type = type_of(facts.type);
  info.vendor = facts.vendor;
  info.version = fmt::format("SYCL 2020 over {}", facts.backend);
  info.driver = fmt::format("{}, libsycl {}", facts.driver, plugin().loaded_with);
  info.compute_units = facts.compute_units;
  info.memory_bytes = facts.memory_bytes;
  info.largest_buffer_bytes = facts.largest_buffer_bytes;
  info.local_bytes = facts.local_bytes;
  info.cache_bytes = facts.type == DeviceType::cpu ? host_share().cache_bytes : facts.cache_bytes;
  info.largest_group = facts.largest_group;
  info.view_alignment = std::max<std::size_t>(info.view_alignment, facts.alignment_bits / 8);
  info.memory_kinds = kinds_of(facts);
  info.features = features_of(facts);
  return info;
}

class SyclRuntime final : public Runtime {
 public:
  std::string name() const override { return "sycl"; }

  std::vector<DeviceInfo> infos() override {
    facts_.clear();
    unfit_.clear();
    std::vector<DeviceInfo> infos;
    problem_ = why_no_plugin();
    if (find_plugin() == nullptr) return infos;
    try {
      list();
    } catch (const Error& error) {
      problem_ = error.what();
    }
    for (const DeviceFacts& facts : facts_) {
      const int ordinal = static_cast<int>(&facts - facts_.data());
      if (facts.usm_device)
        infos.push_back(describe(facts, ordinal));
      else
        unfit_.emplace_back(facts.name);
    }
    return infos;
  }

  std::string why_none() const override {
    if (!problem_.empty()) return problem_;
    if (!unfit_.empty())
      return fmt::format(
          "{} has no device allocations of unified shared memory, which runtime sycl needs (PoCL has "
          "them from version 4); plumb setup intel-sycl installs a runtime that has",
          fmt::join(unfit_, ", "));
    const char* const selector = std::getenv("ONEAPI_DEVICE_SELECTOR");
    return selector == nullptr
               ? "SYCL finds none; OCL_ICD_VENDORS names OpenCL's vendor list"
               : fmt::format("ONEAPI_DEVICE_SELECTOR={} leaves none of those that SYCL finds", selector);
  }

  std::unique_ptr<Device> open(const DeviceInfo& info) override {
    const DeviceFacts& facts = facts_.at(static_cast<std::size_t>(info.ordinal));
    const Aspects aspects{facts.type == DeviceType::cpu, facts.usm_system};
    return std::make_unique<SyclDevice>(std::make_shared<Context>(info, aspects));
  }

 private:
  void list() {
    const int count = check(plugin().devices(nullptr, 0), "list the devices");
    facts_.resize(static_cast<std::size_t>(count));
    check(plugin().devices(facts_.data(), count), "describe the devices");
  }

  std::vector<DeviceFacts> facts_;  // by ordinal
  std::vector<std::string> unfit_;  // names of devices that cannot be used
  std::string problem_;
};

const Registered<RuntimeFactory> registered_sycl("sycl", [] { return std::make_unique<SyclRuntime>(); });

}  // namespace

}  // namespace plumb::sycl
