#include "benchmarks/device/ceilings/ceilings.hpp"

#include <sstream>

#include "benchmarks/device/ceilings/reference.hpp"
#include "benchmarks/hpcc/common/single_device.hpp"
#include "core/units.hpp"

namespace plumb::ceilings {

namespace {

constexpr std::int64_t accumulators_of_a_group = 4096;
constexpr std::uint64_t short_message = sizeof(std::uint64_t);

// For operations that slide.
void let_slide(Case& measured) {
  measured.witnesses = 1;
  measured.most_operations = Slide::most;
}

Case make_case(const Point& point) {
  Case result;
  result.key = point.limit + "/" + point.operation;
  result.labels = {{"limit", point.limit}, {"operation", point.operation}};
  if (point.bytes > 0) result.labels["bytes"] = point.bytes;
  result.payload = Payload(point);
  return result;
}

}  // namespace

Preset Ceilings::preset(const std::string& name) const {
  if (name == "smoke") return {{"size", "24"}, {"updates", "18"}, {"time-limit", "0.05"}};
  if (name == "full") return {{"tables", "3"}, {"time-limit", "5"}};
  return {{"time-limit", "0.5"}};
}

void Ceilings::check(const Plan& plan) const {
  if (accumulators_.get() % accumulators_of_a_group != 0)
    throw UsageError(
        fmt::format("--accumulators {} must be a multiple of {}", accumulators_.get(), accumulators_of_a_group));
  if (size_.get() + 3 * (tables_.get() - 1) > 40)
    throw UsageError(fmt::format("--tables {} with --size {}: the last table would be longer than 1 TiB", tables_.get(),
                                 size_.get()));
  if (groups(plan).empty())
    throw UsageError(
        fmt::format("--only {}: no case's key has this prefix (launch, flops, memory, random, link)", only_.get()));
}

Group Ceilings::flops_group() const {
  Group group{"flops", {}};
  const auto numbers = static_cast<std::uint64_t>(accumulators_.get());
  const auto add = [&](const std::string& type, bool matrix, int multiply_adds) {
    Case measured = make_case({"flops", (matrix ? "matrix_" : "") + type, 0, type, matrix});
    measured.labels["type"] = type;
    measured.labels["units"] = matrix ? "matrix" : "vector";
    measured.work.flops = 4.0 * multiply_adds * pairs_of_steps * static_cast<double>(numbers);
    measured.items_to_check = numbers;
    let_slide(measured);
    group.cases.push_back(measured);
  };
  for (const char* type : {"half", "float", "double"}) add(type, false, 1);
  add("half", true, 16);
  add("tf32", true, 8);
  add("double", true, 8);
  group.largest_buffer_bytes = Slide().target_room(numbers * sizeof(double));
  group.device_bytes = 2 * group.largest_buffer_bytes;
  group.host_bytes = 3 * group.largest_buffer_bytes;
  return group;
}

Group Ceilings::memory_group() const {
  Group group{"memory", {}};
  const std::uint64_t bytes = std::uint64_t{1} << size_.get();
  for (const char* operation : {"read", "write", "copy"}) {
    Case measured = make_case({"memory", operation, bytes});
    if (operation != std::string("write")) measured.work.bytes_read = bytes;
    if (operation != std::string("read")) measured.work.bytes_written = bytes;
    measured.items_to_check = bytes / sizeof(std::uint64_t);
    if (operation != std::string("read")) let_slide(measured);
    group.cases.push_back(measured);
  }
  group.largest_buffer_bytes = Slide().target_room(bytes);
  group.device_bytes = 2 * group.largest_buffer_bytes;
  group.host_bytes = staging_bytes;
  return group;
}

Group Ceilings::random_group() const {
  Group group{"random", {}};
  for (std::int64_t table = 0; table < tables_.get(); ++table)
    for (const char* operation : {"update", "atomic"}) {
      const std::uint64_t bytes = std::uint64_t{1} << (size_.get() + 3 * table);
      Case measured = make_case({"random", operation, bytes});
      measured.key += fmt::format("/{}", bytes);
      measured.items_to_check = bytes / sizeof(std::uint64_t);
      measured.work.updates = std::min(std::uint64_t{1} << updates_.get(), measured.items_to_check);
      measured.fixed_count = static_cast<std::uint64_t>(passes_.get());
      group.cases.push_back(measured);
      group.device_bytes = group.largest_buffer_bytes = bytes;
    }
  group.host_bytes = staging_bytes;
  return group;
}

Group Ceilings::launch_group() const {
  Group group{"launch", {make_case({"launch", "wait"}), make_case({"launch", "row"}), make_case({"launch", "meet"})}};
  for (Case& measured : group.cases) measured.items_to_check = 1;
  group.cases.back().most_operations = std::uint64_t{1} << 30;  // the kernel counts meetings in 32 bits
  group.device_bytes = group.largest_buffer_bytes = group.host_bytes = sizeof(std::uint64_t);
  return group;
}

Group Ceilings::link_group() const {
  Group group{"link", {}};
  const std::uint64_t bytes = std::uint64_t{1} << size_.get();
  for (const char* operation : {"read", "write"})
    for (const std::uint64_t length : {short_message, bytes}) {
      Case measured = make_case({"link", operation, length});
      measured.key += fmt::format("/{}", length);
      measured.work.messages = 1;
      (operation == std::string("read") ? measured.work.bytes_read : measured.work.bytes_written) = length;
      measured.items_to_check = length / sizeof(std::uint64_t);
      let_slide(measured);
      group.cases.push_back(measured);
    }
  group.device_bytes = group.largest_buffer_bytes = Slide().target_room(bytes);
  group.host_bytes = 3 * group.largest_buffer_bytes;
  return group;
}

std::vector<Group> Ceilings::all_groups() const {
  return {launch_group(), flops_group(), memory_group(), random_group(), link_group()};
}

bool Ceilings::wanted(const Case& measured) const {
  std::istringstream prefixes(only_.get());
  for (std::string prefix; std::getline(prefixes, prefix, ',');)
    if (!prefix.empty() && measured.key.starts_with(prefix)) return true;
  return only_.get().empty();
}

std::vector<Group> Ceilings::groups(const Plan&) const {
  std::vector<Group> groups = all_groups();
  for (Group& group : groups) std::erase_if(group.cases, [&](const Case& measured) { return !wanted(measured); });
  std::erase_if(groups, [](const Group& group) { return group.cases.empty(); });
  return groups;
}

void Ceilings::prepare(Session& session, const Case& measured) {
  const std::string& limit = measured.payload.as<Point>().limit;
  const auto make = limit == "launch"   ? make_launch
                    : limit == "flops"  ? make_arithmetic
                    : limit == "memory" ? make_memory
                    : limit == "random" ? make_random
                                        : make_link;
  part_ = make(session, measured);
}

std::vector<Metric> Ceilings::metrics(const CaseResult& result, int ranks) const {
  const Work& work = result.measured->work;
  if (work.flops > 0) return hpcc::parallel_metrics("rate", "GFLOP/s", giga, work.flops, result, ranks);
  if (work.updates > 0)
    return hpcc::parallel_metrics("updates", "GUP/s", giga, static_cast<double>(work.updates), result, ranks);
  const auto bytes = static_cast<double>(work.bytes_read + work.bytes_written);
  if (bytes > static_cast<double>(short_message))
    return hpcc::parallel_metrics("bandwidth", "GB/s", giga, bytes, result, ranks);
  return {{"time", result.best_seconds() / micro, "us", "one launch, meeting or copy; best repetition, slowest rank"},
          {"time_median", result.median_seconds() / micro, "us",
           "one launch, meeting or copy; median repetition, slowest rank"}};
}

const RegisteredBenchmark registered_ceilings("ceilings", [] { return std::make_unique<Ceilings>(); });

}  // namespace plumb::ceilings
