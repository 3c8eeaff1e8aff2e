#include "device/select.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace plumb {

namespace {

using Infos = std::vector<DeviceInfo>;

// opencl first, native last, the others by name (the registry is sorted).
std::vector<std::string> runtime_order() {
  std::vector<std::string> names = Registry<RuntimeFactory>::instance().names();
  const auto place = [](const std::string& name) { return name == "opencl" ? 0 : name == "native" ? 2 : 1; };
  std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return names;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(c < 128 ? std::tolower(c) : c); });
  return text;
}

std::string listing(const Infos& infos) {
  std::vector<std::string> lines;
  for (const DeviceInfo& info : infos)
    lines.push_back(fmt::format("{} ({} {}: {}, {})", info.index, info.runtime, info.type, info.platform, info.name));
  return lines.empty() ? "no device was found" : fmt::format("there are: {}", fmt::join(lines, "; "));
}

// A non-negative integer, or none.
std::optional<int> parse_index(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

bool all_digits(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

template <class Keep>
Infos filtered(const Infos& infos, Keep keep) {
  Infos result;
  std::copy_if(infos.begin(), infos.end(), std::back_inserter(result), keep);
  return result;
}

const DeviceInfo& by_index(const Infos& infos, std::optional<int> index, const std::string& runtime,
                           const std::string& said) {
  const auto found = std::find_if(infos.begin(), infos.end(), [&](const auto& info) { return info.index == index; });
  if (found == infos.end()) throw UsageError(fmt::format("{}: unknown device; {}", said, listing(infos)));
  if (!runtime.empty() && found->runtime != runtime)
    throw UsageError(
        fmt::format("{}: that device belongs to runtime {}, but --runtime is {}", said, found->runtime, runtime));
  return *found;
}

// By type, otherwise by a part of the name; of the preferred runtime first.
Infos matching(const Infos& infos, const std::string& wanted, const std::string& preferred_runtime) {
  const std::string part = lower(wanted);
  Infos found = filtered(infos, [&](const auto& info) { return info.type == part; });
  if (found.empty())
    found = filtered(infos, [&](const auto& info) {
      return lower(info.platform + " " + info.name).find(part) != std::string::npos;
    });
  const Infos preferred = filtered(found, [&](const auto& info) { return info.runtime == preferred_runtime; });
  return preferred.empty() ? found : preferred;
}

// Devices of the best type on the first platform that has it.
Infos best_of(const Infos& infos) {
  for (const char* type : {"gpu", "accelerator", "cpu", "native"}) {
    const auto first = std::find_if(infos.begin(), infos.end(), [&](const auto& info) { return info.type == type; });
    if (first == infos.end()) continue;
    return filtered(infos, [&](const auto& info) { return info.type == type && info.platform == first->platform; });
  }
  return infos;
}

const DeviceInfo& dealt(const Infos& infos, int local_rank) {
  return infos[static_cast<std::size_t>(local_rank) % infos.size()];
}

}  // namespace

DeviceCatalogue::DeviceCatalogue() {
  for (const std::string& name : runtime_order()) {
    runtimes_.push_back((*Registry<RuntimeFactory>::instance().find(name))());
    for (DeviceInfo& info : runtimes_.back()->infos()) {
      info.index = static_cast<int>(infos_.size());
      infos_.push_back(std::move(info));
    }
  }
}

std::string DeviceCatalogue::why_none(const std::string& runtime) const {
  const auto shown = [&](const auto& info) { return info.runtime == runtime; };
  if (std::any_of(infos_.begin(), infos_.end(), shown)) return "";
  for (const auto& known : runtimes_)
    if (known->name() == runtime) return known->why_none();
  return fmt::format("this program was built without the {} runtime", runtime);
}

DeviceInfo DeviceCatalogue::choose(const DeviceWish& wish, int rank, int ranks, int local_rank) const {
  const std::string& runtime = wish.runtime.empty() ? wish.default_runtime : wish.runtime;
  const std::vector<std::string> known = runtime_order();
  if (std::find(known.begin(), known.end(), runtime) == known.end())
    throw UsageError(unknown_name("runtime", runtime, known));
  if (!wish.device.empty() && !wish.map.empty())
    throw UsageError("--device and --device-map both choose the device; give one of them");
  if (!wish.map.empty()) {
    const int index = parse_device_map(wish.map, ranks)[static_cast<std::size_t>(rank)];
    return by_index(infos_, index, wish.runtime, fmt::format("--device-map {}, {} for rank {}", wish.map, index, rank));
  }
  if (all_digits(wish.device))
    return by_index(infos_, parse_index(wish.device), wish.runtime, "--device " + wish.device);

  const Infos own = filtered(infos_, [&](const auto& info) { return info.runtime == runtime; });
  if (wish.device.empty()) {
    if (own.empty()) throw UsageError(fmt::format("runtime {} shows no device: {}", runtime, why_none(runtime)));
    return dealt(best_of(own), local_rank);
  }
  const Infos& searched = wish.runtime.empty() ? infos_ : own;
  const Infos found = matching(searched, wish.device, runtime);
  if (found.empty())
    throw UsageError(fmt::format("--device {}: no device has this type or a name that contains it; {}{}", wish.device,
                                 listing(searched),
                                 own.empty() ? fmt::format(". Of runtime {}: {}", runtime, why_none(runtime)) : ""));
  return dealt(found, local_rank);
}

std::unique_ptr<Device> DeviceCatalogue::open(const DeviceInfo& info) const {
  for (const auto& runtime : runtimes_)
    if (runtime->name() == info.runtime) return runtime->open(info);
  throw Error(fmt::format("no runtime called {} can open device {}", info.runtime, info.index));
}

std::vector<int> parse_device_map(const std::string& text, int ranks) {
  std::vector<int> map;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t colon = std::min(text.find(':', from), text.size());
    const std::string entry = text.substr(from, colon - from);
    const std::optional<int> index = parse_index(entry);
    if (!index)
      throw UsageError(
          fmt::format("--device-map must be device numbers separated by colons, such as 2:0:3, not \"{}\" "
                      "(invalid number \"{}\")",
                      text, entry));
    map.push_back(*index);
    from = colon + 1;
  }
  if (map.size() < static_cast<std::size_t>(ranks))
    throw UsageError(fmt::format("--device-map {} names {} device{}, but there are {} ranks: position is rank", text,
                                 map.size(), map.size() == 1 ? "" : "s", ranks));
  return map;
}

}  // namespace plumb
