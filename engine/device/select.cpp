#include "device/select.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

namespace plumb {

namespace {

using Infos = std::vector<DeviceInfo>;

// opencl first, then the others by name (the registry is sorted), native, and hls last: libplumb-mpi-device lacks it,
// and its other devices must have the same numbers.
std::vector<std::string> runtime_order() {
  std::vector<std::string> names = Registry<RuntimeFactory>::instance().names();
  const auto place = [](const std::string& name) {
    return name == "opencl" ? 0 : name == "native" ? 2 : name == "hls" ? 3 : 1;
  };
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

// "0:1"; none if it is no such list.
std::optional<std::vector<int>> parse_list(const std::string& text) {
  std::vector<int> list;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t colon = std::min(text.find(':', from), text.size());
    const std::optional<int> index = parse_index(text.substr(from, colon - from));
    if (!index) return std::nullopt;
    list.push_back(*index);
    from = colon + 1;
  }
  return list;
}

int by_place(const std::vector<int>& devices, const DeviceWish& wish, const Seat& seat) {
  if (static_cast<std::size_t>(seat.local_ranks) > devices.size() && !wish.shared)
    throw UsageError(
        fmt::format("--device-map {} names {} device{} of a node, but {} ranks are on {}: name more, or give "
                    "--share-devices",
                    wish.map, devices.size(), devices.size() == 1 ? "" : "s", seat.local_ranks,
                    seat.host.empty() ? "this one" : seat.host));
  return devices[static_cast<std::size_t>(seat.local_rank) % devices.size()];
}

constexpr const char* node_form = "node=";

// The number that a map gives to this rank.
int mapped(const DeviceWish& wish, const Seat& seat) {
  const std::string& map = wish.map;
  if (map.starts_with(node_form)) {
    const auto devices = parse_list(map.substr(std::string(node_form).size()));
    if (!devices) throw UsageError(fmt::format("--device-map must be devices of a node (node=0:1), not \"{}\"", map));
    return by_place(*devices, wish, seat);
  }
  if (std::ifstream(map).good()) return by_place(devices_in_file(map, seat.host), wish, seat);
  return parse_device_map(map, seat.ranks)[static_cast<std::size_t>(seat.rank)];
}

// Devices that share a core with `cores` (near), or share none (far).
Infos beside(const Infos& infos, const std::vector<int>& cores, const Seat& seat, bool near) {
  return filtered(infos, [&](const DeviceInfo& info) {
    const std::vector<int> own = seat.near_to(info);
    const bool meets = std::any_of(own.begin(), own.end(),
                                   [&](int c) { return std::find(cores.begin(), cores.end(), c) != cores.end(); });
    return meets == near;
  });
}

// Of the devices near to (or far from) the rank's cores; ranks with the same choice get them in turn.
DeviceInfo by_distance(const Infos& infos, const DeviceWish& wish, const Seat& seat) {
  if (!seat.near_to || seat.cores.empty()) throw UsageError("--device-map " + wish.map + " needs a run");
  for (const DeviceInfo& info : infos)
    if (seat.near_to(info).empty())
      throw UsageError(
          fmt::format("--device-map {}: the place of {} on the PCI bus is not known", wish.map, info.name));
  const auto choice = [&](int local) {
    std::vector<int> indices;
    for (const DeviceInfo& one : beside(infos, seat.cores[static_cast<std::size_t>(local)], seat, wish.map == "near"))
      indices.push_back(one.index);
    return indices;
  };
  const std::vector<int> own = choice(seat.local_rank);
  if (own.empty())
    throw UsageError(fmt::format("--device-map {}: no device is {} the cores {} of rank {}", wish.map,
                                 wish.map == "near" ? "near to" : "far from",
                                 fmt::join(seat.cores[static_cast<std::size_t>(seat.local_rank)], ","), seat.rank));
  int before = 0;
  for (int local = 0; local < seat.local_rank; ++local) before += choice(local) == own ? 1 : 0;
  return by_index(infos, own[static_cast<std::size_t>(before) % own.size()], wish.runtime, "--device-map " + wish.map);
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

DeviceInfo DeviceCatalogue::numbered(const std::string& number, const std::string& said) const {
  return by_index(infos_, parse_index(number), "", said);
}

DeviceInfo DeviceCatalogue::choose(const DeviceWish& wish, int rank, int ranks, int local_rank) const {
  return choose(wish, Seat{rank, ranks, local_rank, local_rank + 1});
}

DeviceInfo DeviceCatalogue::choose(const DeviceWish& wish, const Seat& seat) const {
  const std::string& runtime = wish.runtime.empty() ? wish.default_runtime : wish.runtime;
  const std::vector<std::string> known = runtime_order();
  if (std::find(known.begin(), known.end(), runtime) == known.end())
    throw UsageError(unknown_name("runtime", runtime, known));
  if (!wish.device.empty() && !wish.map.empty())
    throw UsageError("--device and --device-map both choose the device; give one of them");
  const bool by_bus = wish.map == "near" || wish.map == "far";
  if (!wish.map.empty() && !by_bus) {
    const int index = mapped(wish, seat);
    return by_index(infos_, index, wish.runtime,
                    fmt::format("--device-map {}, {} for rank {}", wish.map, index, seat.rank));
  }
  if (all_digits(wish.device))
    return by_index(infos_, parse_index(wish.device), wish.runtime, "--device " + wish.device);

  const Infos own = filtered(infos_, [&](const auto& info) { return info.runtime == runtime; });
  if (wish.device.empty()) {
    if (own.empty()) throw UsageError(fmt::format("runtime {} shows no device: {}", runtime, why_none(runtime)));
    return by_bus ? by_distance(best_of(own), wish, seat) : dealt(best_of(own), seat.local_rank);
  }
  const Infos& searched = wish.runtime.empty() ? infos_ : own;
  const Infos found = matching(searched, wish.device, runtime);
  if (found.empty())
    throw UsageError(fmt::format("--device {}: no device has this type or a name that contains it; {}{}", wish.device,
                                 listing(searched),
                                 own.empty() ? fmt::format(". Of runtime {}: {}", runtime, why_none(runtime)) : ""));
  return dealt(found, seat.local_rank);
}

std::unique_ptr<Device> DeviceCatalogue::open(const DeviceInfo& info) const {
  for (const auto& runtime : runtimes_)
    if (runtime->name() == info.runtime) return runtime->open(info);
  throw Error(fmt::format("no runtime called {} can open device {}", info.runtime, info.index));
}

std::vector<int> devices_in_file(const std::string& path, const std::string& host) {
  std::ifstream file(path);
  std::map<std::string, std::vector<int>> named;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name, numbers, more;
    if (!(words >> name)) continue;
    words >> numbers >> more;
    const auto devices = parse_list(numbers);
    if (!devices || !more.empty() || !named.emplace(name, *devices).second)
      throw UsageError(
          fmt::format("{}: a line must be a node, once, and its devices, as in \"n01 0:1\", not \"{}\"", path, line));
  }
  for (const std::string& name : {host, host.substr(0, host.find('.')), std::string("*")})
    if (const auto found = named.find(name); found != named.end()) return found->second;
  throw UsageError(fmt::format("--device-map {} names no devices of {}", path, host.empty() ? "this node" : host));
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
