#include "benchmarks/shmem/shoms/shmem_shoms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "benchmarks/shmem/shoms/cores.hpp"
#include "benchmarks/shmem/shoms/sizes.hpp"
#include "core/units.hpp"
#include "world/shmem.hpp"

namespace plumb::shoms {

using shmem_api::Setting;

namespace {

constexpr double nano = 1e-9;

// SHOMS' affinity mode.
const std::vector<std::string> affinity_tests{
    "local_read", "local_write", "int_p",    "int_put", "int_iput", "int_g",      "int_get",  "int_iget", "int_swap",
    "int_cswap",  "int_fadd",    "int_finc", "int_add", "int_inc",  "clear_lock", "set_lock", "test_lock"};

// A single test name, not a pattern or a list.
bool is_name(const std::string& selection, const std::vector<std::string>& known) {
  return std::ranges::find(known, selection) != known.end();
}

}  // namespace

Shoms::Shoms() : Table(8, 16777216) {
  for (const shmem_api::Row& row : shmem_api::api_table()) tests_.push_back({row.name, row.kind, {row}});
}

Preset Shoms::preset(const std::string& name) const {
  if (name == "smoke")
    return {{"time-limit", "0.01"}, {"min-repetitions", "6"}, {"size-factor", "64"}, {"maxsize", "32768"}};
  if (name == "full") return {{"time-limit", "1"}, {"tests", "all"}};
  return {{"time-limit", "0.03"}, {"min-repetitions", "6"}, {"size-factor", "4"}};
}

std::vector<const Shoms::Test*> Shoms::picked() const {
  const std::vector<std::string> known = names();
  std::vector<std::string> names = operations::names_picked(only_, known);
  const bool chosen = only_.given() || input_.given();
  if (input_.given()) {
    const std::vector<std::string> listed = names_in_file(input_, known);
    std::erase_if(names, [&](const std::string& name) { return std::ranges::find(listed, name) == listed.end(); });
    if (names.empty()) throw UsageError("--only selects no test of the --input list");
  }
  if (affinity_)
    std::erase_if(names,
                  [](const auto& name) { return std::ranges::find(affinity_tests, name) == affinity_tests.end(); });
  std::vector<const Test*> picked;
  for (const Test& test : tests_) {
    const bool in_set = chosen || affinity_ || set_ == "all" || test.rows.front().set == set_.get();
    if (in_set && std::ranges::find(names, test.name) != names.end()) picked.push_back(&test);
  }
  if (picked.empty()) throw UsageError("--affinity supports none of the selected tests");
  return picked;
}

std::vector<std::uint64_t> Shoms::sizes() const {
  if (msglen_.given()) return sizes_in_file(msglen_);
  if (affinity_) return {static_cast<std::uint64_t>(minsize_.get())};
  return swept_sizes();
}

void Shoms::check(const Plan& plan) const {
  check_between_ranks(plan);
  if (affinity_ && plan.ranks != 2) throw UsageError("--affinity needs exactly two PEs");
  if (cores_.given() && !affinity_) throw UsageError("--cores requires --affinity");
  if (spread_.get() > 0 && off_cache_) throw UsageError("--spread and --off-cache must not be combined");
  const Test& first = *picked().front();
  (void)sizes();
  if (affinity_) (void)cores(cores_);
  if (!is_name(only_, names())) return;
  const std::string reason = hindrance(first.rows.front());
  if (!reason.empty()) throw UsageError(fmt::format("{} cannot be run here: {}", first.name, reason));
}

std::string Shoms::hindrance(const Row& row) const {
  if (threads_ > 1 && !row.threads) return "it does not support --threads";
  return Table::hindrance(row);
}

Setting Shoms::setting(const Plan& plan, const Point& point) const {
  const std::uint64_t bytes = point.bytes;
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

std::vector<Group> Shoms::groups(const Plan& plan) const {
  std::vector<Group> groups;
  const auto add = [&](const std::string& prefix, const Json& labels, std::size_t place) {
    for (const Test* test : picked())
      if (Group group = group_of(*test, plan, sizes(), prefix, labels, place); !group.cases.empty())
        groups.push_back(std::move(group));
  };
  if (!affinity_) {
    add("", Json::object(), 0);
  } else {
    const std::vector<int> all = cores(cores_);
    for (std::size_t i = 0; i < all.size() * all.size(); ++i) {
      const int first = all[i / all.size()], second = all[i % all.size()];
      add(fmt::format("{}-{}/", first, second), {{"core_0", first}, {"core_1", second}}, i);
    }
  }
  if (groups.empty()) throw UsageError("--maxsize is below the element size of every test");
  return groups;
}

void Shoms::prepare_group(Session& session, const Group& group, Timed&) {
  if (!affinity_) return;
  const std::vector<int> all = cores(cores_);
  const std::size_t place = point_of(group.cases.front()).place;
  bind_to_core(all[session.world.rank() == 0 ? place / all.size() : place % all.size()]);
}

void Shoms::reset(Session&, const Case& measured, std::uint64_t repetition, std::uint64_t count) {
  if (warmup_ && measured.fixed_count == 0 && measured.policy.kind != CasePolicy::Kind::once) {
    const std::uint64_t tenth = admissible_count(measured, std::max<std::uint64_t>(1, count / 10));
    pattern_->reset(repetition, tenth);
    shmem_barrier_all();
    pattern_->run(tenth);
    shmem_barrier_all();
  }
  pattern_->reset(repetition, count);
}

std::vector<Metric> Shoms::metrics(const CaseResult& result, int ranks) const {
  const Point& point = point_of(*result.measured);
  const std::string what = "one operation, complete; ";
  std::vector<Metric> list{
      {"time", result.best_seconds() / nano, "ns", what + "best repetition, slowest PE"},
      {"time_median", result.median_seconds() / nano, "ns", what + "median repetition, slowest PE"}};
  operations::add_injection(list, result, nano, "ns");
  const std::uint64_t moved = point.row->needs(setting({0, ranks, 1}, point)).moved;
  if (moved > 0)
    list.push_back({"bandwidth", static_cast<double>(moved) / result.best_seconds() / giga, "GB/s",
                    "bytes that all PEs move in one operation / t; best repetition, slowest PE"});
  return list;
}

namespace {

const RegisteredBenchmark registered_shoms("shoms", [] { return std::make_unique<Shoms>(); });

}  // namespace

}  // namespace plumb::shoms
