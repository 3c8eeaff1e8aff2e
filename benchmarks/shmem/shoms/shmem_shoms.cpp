#include "benchmarks/shmem/shoms/shmem_shoms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "benchmarks/shmem/shoms/cores.hpp"
#include "benchmarks/shmem/shoms/sizes.hpp"
#include "core/units.hpp"
#include "world/shmem.hpp"

namespace plumb::shoms {

using shmem_api::Row;
using shmem_api::Setting;
using shmem_api::Shape;

namespace {

constexpr double nano = 1e-9;

// SHOMS' affinity mode.
const std::vector<std::string> affinity_tests{
    "local_read", "local_write", "int_p",    "int_put", "int_iput", "int_g",      "int_get",  "int_iget", "int_swap",
    "int_cswap",  "int_fadd",    "int_finc", "int_add", "int_inc",  "clear_lock", "set_lock", "test_lock"};

std::vector<std::string> names_of(const std::vector<Row>& table) {
  std::vector<std::string> names;
  for (const Row& row : table) names.push_back(row.name);
  return names;
}

std::uint64_t bytes_of(const Case& measured) {
  const auto found = measured.labels.find("bytes");
  return found == measured.labels.end() ? 8 : found->get<std::uint64_t>();
}

// A single name of a test, not a pattern or a list of several.
bool is_name(const std::string& selection, const std::vector<std::string>& known) {
  return std::ranges::find(known, selection) != known.end();
}

}  // namespace

Preset Shoms::preset(const std::string& name) const {
  if (name == "smoke")
    return {{"time-limit", "0.01"}, {"min-repetitions", "6"}, {"size-factor", "64"}, {"maxsize", "32768"}};
  if (name == "full") return {{"time-limit", "1"}, {"tests", "all"}};
  return {{"time-limit", "0.03"}, {"min-repetitions", "6"}};
}

std::vector<const Row*> Shoms::rows() const {
  const std::vector<std::string> known = names_of(table());
  std::vector<std::string> names = names_picked(only_, known);
  const bool chosen = only_.given() || input_.given();
  if (input_.given()) {
    const std::vector<std::string> listed = names_in_file(input_, known);
    std::erase_if(names, [&](const std::string& name) { return std::ranges::find(listed, name) == listed.end(); });
    if (names.empty()) throw UsageError("--only picks no test of the list that --input gives");
  }
  if (affinity_)
    std::erase_if(names,
                  [](const auto& name) { return std::ranges::find(affinity_tests, name) == affinity_tests.end(); });
  std::vector<const Row*> picked;
  for (const Row& row : table()) {
    const bool in_set = chosen || affinity_ || tests_ == "all" || row.set == tests_.get();
    if (in_set && std::ranges::find(names, row.name) != names.end()) picked.push_back(&row);
  }
  if (picked.empty()) throw UsageError("--affinity has none of the tests that were asked for");
  return picked;
}

std::vector<std::uint64_t> Shoms::sizes() const {
  if (msglen_.given()) return sizes_in_file(msglen_);
  const auto minimum = static_cast<std::uint64_t>(minsize_.get());
  if (affinity_) return {minimum};
  return growing_sizes(minimum, static_cast<std::uint64_t>(maxsize_.get()),
                       static_cast<std::uint64_t>(size_factor_.get()));
}

void Shoms::check(const Plan& plan) const {
  if (plan.ranks < 2) throw UsageError("shoms measures between PEs: it needs two or more (plumb run shoms -n 2)");
  if (affinity_ && plan.ranks != 2) throw UsageError("--affinity needs exactly two PEs");
  if (cores_.given() && !affinity_) throw UsageError("--cores is for --affinity");
  if (spread_.get() > 0 && off_cache_) throw UsageError("--spread and --off-cache: each says where messages lie");
  if (minsize_.get() > maxsize_.get())
    throw UsageError(fmt::format("--minsize {} is above --maxsize {}", minsize_.get(), maxsize_.get()));
  const auto picked = rows();
  (void)sizes();
  if (affinity_) (void)cores(cores_);
  if (!is_name(only_, names_of(table()))) return;
  const std::string reason = hindrance(*picked.front());
  if (!reason.empty()) throw UsageError(fmt::format("{} cannot be run here: {}", picked.front()->name, reason));
}

std::string Shoms::hindrance(const Row& row) const {
  if (!row.missing.empty()) return row.missing;
  if (!row.fault.empty() && !known_faults_) return row.fault + "; --known-faults runs it";
  if (threads_ > 1 && !row.threads) return "it is not one that several threads can do at once (--threads)";
  return "";
}

Setting Shoms::setting(const Plan& plan, std::uint64_t bytes) const {
  Setting setting;
  setting.pe = plan.rank;
  setting.pes = plan.ranks;
  setting.bytes = bytes;
  setting.threads = static_cast<int>(threads_.get());
  setting.seed = plan.seed;
  setting.window = static_cast<std::uint64_t>(window_.get());
  if (off_cache_) setting.slots = std::max<std::size_t>(2, (2 * largest_cache_bytes() + bytes - 1) / bytes);
  if (spread_.get() > 0) {
    setting.scattered = true;
    const std::uint64_t pitch = std::max<std::uint64_t>(bytes, 64);
    setting.slots = std::max<std::size_t>(2, std::bit_floor((std::uint64_t{1} << spread_.get()) / pitch));
  }
  return setting;
}

Group Shoms::group_of(const Row& row, const Plan& plan, const std::string& place, Json labels) const {
  Group group;
  group.key = place + row.name;
  labels["test"] = row.name;
  labels["kind"] = row.kind;
  const std::vector<std::uint64_t> all = row.element_bytes == 0 ? std::vector<std::uint64_t>{8} : sizes();
  for (const std::uint64_t bytes : all) {
    if (row.element_bytes > bytes) continue;
    Case one;
    one.key = group.key;
    one.labels = labels;
    if (row.element_bytes > 0) {
      one.key += fmt::format("/{}", bytes);
      one.labels["bytes"] = bytes;
    }
    if (hindrance(row).empty()) {
      const Shape shape = row.shape(setting(plan, bytes));
      one.work = shape.work;
      one.items_to_check = shape.items_to_check;
      one.fixed_count = shape.fixed_count;
      if (shape.once) one.policy.kind = CasePolicy::Kind::once;
      group.symmetric_bytes = std::max(group.symmetric_bytes, shape.symmetric_bytes);
      group.host_bytes = std::max<std::uint64_t>(group.host_bytes, bytes);
    }
    group.cases.push_back(std::move(one));
  }
  return group;
}

std::vector<Group> Shoms::groups(const Plan& plan) const {
  std::vector<Group> groups;
  const auto add = [&](const std::string& place, const Json& labels) {
    for (const Row* row : rows())
      if (Group group = group_of(*row, plan, place, labels); !group.cases.empty()) groups.push_back(std::move(group));
  };
  if (!affinity_) {
    add("", Json::object());
  } else {
    for (const int first : cores(cores_))
      for (const int second : cores(cores_))
        add(fmt::format("{}-{}/", first, second), {{"core_0", first}, {"core_1", second}});
  }
  if (groups.empty()) throw UsageError("no test has an element as small as --maxsize");
  return groups;
}

void Shoms::prepare_group(Session& session, const Group& group, Timed&) {
  if (!affinity_) return;
  const Json& labels = group.cases.front().labels;
  bind_to_core(labels.at(session.world.rank() == 0 ? "core_0" : "core_1").get<int>());
}

const Row& Shoms::row_of(const Case& measured) const {
  const std::string name = measured.labels.at("test").get<std::string>();
  return *std::ranges::find_if(table(), [&](const Row& row) { return row.name == name; });
}

void Shoms::prepare(Session& session, const Case& measured) {
  const Row& row = row_of(measured);
  const std::string reason = hindrance(row);
  if (!reason.empty()) throw Unsupported(reason);
  const Setting chosen = setting({session.world.rank(), session.world.size(), session.seed}, bytes_of(measured));
  multiple_ = row.shape(chosen).count_multiple;
  test_ = row.make(chosen);
}

std::uint64_t Shoms::admissible_count(const Case&, std::uint64_t wanted) const {
  return (wanted + multiple_ - 1) / multiple_ * multiple_;
}

void Shoms::reset(Session&, const Case& measured, std::uint64_t repetition, std::uint64_t count) {
  if (warmup_ && measured.fixed_count == 0 && measured.policy.kind != CasePolicy::Kind::once) {
    const std::uint64_t tenth = admissible_count(measured, std::max<std::uint64_t>(1, count / 10));
    test_->reset(repetition, tenth);
    shmem_barrier_all();
    test_->run(tenth);
    shmem_barrier_all();
  }
  test_->reset(repetition, count);
}

void Shoms::run(Session&, const Case&, Timed& timed) {
  test_->run(timed.count());
  if (const auto elsewhere = test_->seconds_elsewhere()) timed.instead(*elsewhere);
  const auto [seconds, operations] = test_->injection();
  if (operations == 0) return;
  timed.tally("injection_s", seconds);
  timed.tally("injections", operations);
}

std::vector<Metric> Shoms::metrics(const CaseResult& result, int ranks) const {
  const Row& row = row_of(*result.measured);
  const std::string what = "one operation, complete; ";
  std::vector<Metric> list{
      {"time", result.best_seconds() / nano, "ns", what + "best repetition, slowest PE"},
      {"time_median", result.median_seconds() / nano, "ns", what + "median repetition, slowest PE"}};
  if (const auto seconds = result.tallies.find("injection_s"); seconds != result.tallies.end())
    list.push_back({"injection", seconds->second / result.tallies.at("injections") / nano, "ns",
                    "begun and not waited for, up to 64 at a time; mean"});
  const Shape shape = row.shape(setting({0, ranks, 1}, bytes_of(*result.measured)));
  if (shape.moved > 0)
    list.push_back({"bandwidth", static_cast<double>(shape.moved) / result.best_seconds() / giga, "GB/s",
                    "bytes that all PEs move in one operation / t; best repetition, slowest PE"});
  return list;
}

namespace {

const RegisteredBenchmark registered_shoms("shoms", [] { return std::make_unique<Shoms>(); });

}  // namespace

}  // namespace plumb::shoms
