#include "device/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/json.hpp"

namespace plumb {

namespace {

constexpr std::array<std::pair<MemoryKind, const char*>, 6> kind_names{{{MemoryKind::automatic, "default"},
                                                                        {MemoryKind::host, "host"},
                                                                        {MemoryKind::svm, "svm"},
                                                                        {MemoryKind::ddr, "ddr"},
                                                                        {MemoryKind::hbm, "hbm"},
                                                                        {MemoryKind::plram, "plram"}}};

MemoryKind parse_kind(const std::string& text) {
  std::vector<std::string> known;
  for (const auto& [kind, name] : kind_names) {
    if (text == name) return kind;
    known.emplace_back(name);
  }
  throw UsageError(unknown_name("memory kind", text, known));
}

bool has_banks(MemoryKind kind) {
  return kind == MemoryKind::ddr || kind == MemoryKind::hbm || kind == MemoryKind::plram;
}

constexpr std::array<std::pair<Feature, const char*>, 5> feature_names{{{Feature::fp16, "fp16"},
                                                                        {Feature::fp64, "fp64"},
                                                                        {Feature::atomics64, "atomics64"},
                                                                        {Feature::channels, "channels"},
                                                                        {Feature::pipes, "pipes"}}};

}  // namespace

std::string to_string(Feature feature) {
  for (const auto& [known, name] : feature_names)
    if (known == feature) return name;
  return "unknown";
}

bool DeviceInfo::has(Feature feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

std::string to_string(MemoryKind kind) {
  for (const auto& [known, name] : kind_names)
    if (known == kind) return name;
  return "unknown";
}

Placement parse_placement(const std::string& text) {
  const std::size_t colon = text.find(':');
  Placement placement{parse_kind(text.substr(0, colon)), {}};
  if (colon == std::string::npos) return placement;
  const std::string digits = text.substr(colon + 1);
  int bank = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bank);
  if (error != std::errc{} || end != digits.data() + digits.size() || bank < 0)
    throw UsageError(fmt::format("the bank in --memory {} must be an integer of at least 0, not \"{}\"", text, digits));
  if (!has_banks(placement.kind))
    throw UsageError(fmt::format("--memory {}: memory kind {} has no banks; ddr, hbm and plram have", text,
                                 to_string(placement.kind)));
  placement.bank = bank;
  return placement;
}

Placement Placement::in_bank(int part, int parts) const {
  Placement placement = *this;
  if (has_banks(kind) && !bank && parts > 1) placement.bank = part;
  return placement;
}

std::byte* host_pointer(const KernelArgument& argument) {
  if (const auto* view = std::get_if<BufferView>(&argument)) return view->host_pointer();
  return std::get<const Buffer*>(argument)->host_pointer();
}

std::string Device::share(const Buffer&) {
  throw Unsupported(fmt::format("{} cannot share its memory with other processes", info().name));
}

std::unique_ptr<Buffer> Device::open_shared(const std::string&) {
  throw Unsupported(fmt::format("{} cannot open another process's memory", info().name));
}

std::string to_string(const Placement& placement) {
  return to_string(placement.kind) + (placement.bank ? fmt::format(":{}", *placement.bank) : "");
}

std::string emulation_of(const DeviceInfo& info) {
  if (info.platform.find("Emulation") == std::string::npos) return "";
  return fmt::format("{} emulates a board ({})", info.name, info.platform);
}

Json to_json(const DeviceInfo& info) {
  Json kinds = Json::array();
  for (const MemoryKind kind : info.memory_kinds) kinds.push_back(to_string(kind));
  Json features = Json::array();
  for (const Feature feature : info.features) features.push_back(to_string(feature));
  return Json{{"index", info.index},
              {"runtime", info.runtime},
              {"platform", info.platform},
              {"name", info.name},
              {"type", info.type},
              {"vendor", info.vendor},
              {"version", info.version},
              {"driver", info.driver},
              {"compute_units", info.compute_units},
              {"memory_bytes", info.memory_bytes},
              {"local_bytes", info.local_bytes},
              {"cache_bytes", info.cache_bytes},
              {"memory_kinds", kinds},
              {"features", features}};
}

}  // namespace plumb
