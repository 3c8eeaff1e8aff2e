#include "benchmarks/osu/shmem/shmem_osu.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/shmem/api/shmem_transfer.hpp"
#include "core/units.hpp"
#include "world/shmem_faults.hpp"

namespace plumb::osu {

using shmem_api::Mover;
using shmem_api::Row;
using shmem_api::Setting;

namespace {

using Byte = std::byte;

const Row& api_row(const std::string& name) {
  const auto& table = shmem_api::api_table();
  const auto found = std::ranges::find_if(table, [&](const Row& row) { return row.name == name; });
  if (found == table.end()) throw Error("the table of the API has no " + name);
  return *found;
}

// A non-blocking put or get, computing, then completion.
template <class Move>
Row overlapped(const char* name, shmem_api::Way way, void (*function)(void*, const void*, std::size_t, int), Move move,
               std::shared_ptr<Computing> computing) {
  Mover<Byte> mover;
  mover.way = way;
  mover.plain = shmem_api::loop_of<Byte, shmem_api::Plain>(
      function, shmem_api::complete_plain,
      [move, computing](const auto& channel, auto f, Byte* remote, Byte* local, std::size_t n, int pe) {
        move(channel, f, remote, local, n, pe);
        computing->compute();
      });
  mover.in_context = mover.plain;
  return transfer_row<Byte>(name, "overlap", "osu", mover);
}

std::vector<Row> atomic_rows() {
  std::vector<Row> rows;
  for (const char* type : {"long", "int"})
    for (const char* operation : {"fadd", "finc", "add", "inc", "cswap", "swap", "atomic_set", "atomic_fetch"})
      rows.push_back(api_row(fmt::format("{}_{}", type, operation)));
  for (const char* type : {"int64", "int32"})
    for (const char* operation : {"fetch_and", "fetch_or", "fetch_xor", "and", "or", "xor"})
      rows.push_back(api_row(fmt::format("{}_atomic_{}", type, operation)));
  return rows;
}

bool is_windowed(const std::string& kind) {
  return kind == "bandwidth" || kind == "message rate";
}

}  // namespace

OsuShmem::OsuShmem() : Table(1, 1048576) {
  const auto add = [&](const char* name, const char* kind, std::vector<Row> rows) {
    tests_.push_back({std::string("osu_oshm_") + name, kind, std::move(rows)});
  };
  const Row put = api_row("putmem"), get = api_row("getmem");
  const Row put_nb = api_row("putmem_nbi"), get_nb = api_row("getmem_nbi");
  add("put", "latency", {put});
  add("put_nb", "latency", {put_nb});
  add("put_bw", "bandwidth", {put});
  add("put_nb_bw", "bandwidth", {put_nb});
  add("put_mr", "message rate", {put});
  add("put_mr_nb", "message rate", {put_nb});
  add("put_overlap", "overlap",
      {overlapped("putmem_nbi", shmem_api::Way::put, shmem_putmem_nbi, shmem_api::move_put, computing_)});
  add("get", "latency", {get});
  add("get_nb", "latency", {get_nb});
  add("get_bw", "bandwidth", {get});
  add("get_nb_bw", "bandwidth", {get_nb});
  add("get_mr_nb", "message rate", {get_nb});
  add("get_overlap", "overlap",
      {overlapped("getmem_nbi", shmem_api::Way::get, shmem_getmem_nbi, shmem_api::move_get, computing_)});
  add("atomics", "atomic", atomic_rows());
  add("barrier", "collective", {api_row("barrier_all")});
  add("broadcast", "collective", {api_row("broadcast64")});
  add("collect", "collective", {api_row("collect64")});
  add("fcollect", "collective", {api_row("fcollect64")});
  add("reduce", "collective", {api_row("float_sum_to_all")});
}

Preset OsuShmem::preset(const std::string& name) const {
  if (name == "smoke")
    return {{"time-limit", "0.01"}, {"min-repetitions", "6"}, {"size-factor", "8192"}, {"maxsize", "8192"}};
  if (name == "full") return {{"time-limit", "1"}, {"maxsize", "4194304"}};
  return {{"time-limit", "0.1"}, {"min-repetitions", "6"}};
}

void OsuShmem::check(const Plan& plan) const {
  check_between_ranks(plan);
  if (const std::string fault = fault_of_global_variables(); area_ == "global" && !fault.empty() && !known_faults_)
    throw UsageError(fmt::format("--area global cannot be run here: {}; --known-faults runs it", fault));
}

Setting OsuShmem::setting(const Plan& plan, const Point& point) const {
  Setting setting;
  setting.pe = plan.rank;
  setting.pes = plan.ranks;
  setting.who = shmem_api::Who::halves;
  setting.bytes = point.bytes;
  setting.window = is_windowed(point.test->kind) ? static_cast<std::uint64_t>(window_.get()) : 1;
  setting.global = area_ == "global";
  setting.seed = plan.seed;
  return setting;
}

std::vector<Group> OsuShmem::groups(const Plan& plan) const {
  const std::vector<std::string> picked = operations::names_picked(only_, names());
  std::vector<Group> groups;
  for (const Test& test : tests_) {
    if (std::ranges::find(picked, test.name) == picked.end()) continue;
    Group group = group_of(test, plan, swept_sizes(), "", {{"memory", area_.get()}});
    if (area_ == "global") group.symmetric_bytes = 0;
    if (!group.cases.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

void OsuShmem::prepare(Session& session, const Case& measured) {
  const Test& test = *point_of(measured).test;
  overlaps_ = test.kind == "overlap";
  is_timed_ = session.world.rank() < timed_pes(test, session.world.size());
  if (overlaps_) computing_->measure();
  computing_->turns = 0;
  Table::prepare(session, measured);
}

// The transfer alone, before the overlapped one: computing takes as long.
void OsuShmem::time_alone(std::uint64_t repetition, std::uint64_t count) {
  const std::uint64_t some = std::min<std::uint64_t>(count, 1000);
  computing_->turns = 0;
  pattern_->reset(repetition, some);
  shmem_barrier_all();
  const double begin = now_seconds();
  pattern_->run(some);
  alone_s_ = (now_seconds() - begin) / static_cast<double>(some);
  computing_->turns = static_cast<std::uint64_t>(alone_s_ / computing_->seconds_per_turn);
  const double before = now_seconds();
  for (std::uint64_t i = 0; i < some; ++i) computing_->compute();
  computing_s_ = (now_seconds() - before) / static_cast<double>(some);
  shmem_barrier_all();
}

void OsuShmem::reset(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) {
  if (overlaps_) time_alone(repetition, count);
  Table::reset(session, measured, repetition, count);
}

int OsuShmem::timed_pes(const Test& test, int ranks) const {
  if (test.kind == "overlap") return 1;
  return test.kind == "collective" ? ranks : ranks / 2;
}

void OsuShmem::run(Session&, const Case&, Timed& timed) {
  const double begin = now_seconds();
  pattern_->run(timed.count());
  const double seconds = now_seconds() - begin;
  tell(timed);
  if (!is_timed_) return;
  const auto count = static_cast<double>(timed.count());
  timed.tally("own_samples", 1);
  timed.tally("own_s", seconds / count);
  timed.tally("own_rates", count / seconds);
  if (!overlaps_) return;
  timed.tally("alone_s", alone_s_);
  timed.tally("computing_s", computing_s_);
}

std::vector<Metric> OsuShmem::metrics(const CaseResult& result, int ranks) const {
  const Point& point = point_of(*result.measured);
  const Test& test = *point.test;
  const auto tally = [&](const char* name) {
    const auto found = result.tallies.find(name);
    return found == result.tallies.end() ? 0.0 : found->second;
  };
  const double samples = tally("own_samples"), repetitions = samples / timed_pes(test, ranks);
  const double mean = tally("own_s") / samples, slowest = result.summary.mean / static_cast<double>(result.count);
  const char* whose = test.kind == "overlap"      ? "one operation, complete; PE 0's mean of the repetitions"
                      : test.kind == "collective" ? "a call; mean of the repetitions, mean of the PEs"
                                                  : "one operation, complete; mean of the repetitions, mean of the "
                                                    "PEs that act";
  std::vector<Metric> list{{"latency", mean / micro, "us", whose},
                           {"latency_slowest", slowest / micro, "us", "the same of the slowest PE of each repetition"},
                           {"latency_median", result.median_seconds() / micro, "us", "the same; median"}};
  operations::add_injection(list, result, micro, "us");
  const double pairs = ranks / 2;  // whole pairs
  if (is_windowed(test.kind)) {
    const auto length = static_cast<double>(point.bytes);
    list.push_back({"bandwidth", pairs * length / mean / 1e6, "MB/s", "bytes of all pairs / mean time of one message"});
    list.push_back({"message_rate", tally("own_rates") / repetitions, "1/s",
                    "sum of the rates that the PEs find, each by its own time; mean of the repetitions"});
    list.push_back({"message_rate_slowest", pairs / slowest, "1/s", "of all pairs, by the slowest PE's time"});
  }
  if (test.kind == "atomic")
    list.push_back({"operation_rate", tally("own_rates") / repetitions / 1e6, "Mop/s",
                    "sum of the rates that the PEs find, each by its own time; mean of the repetitions"});
  if (test.kind == "overlap") {
    const double alone = tally("alone_s") / samples, computing = tally("computing_s") / samples;
    list.push_back({"pure_communication", alone / micro, "us", "the transfer alone, complete; PE 0's mean"});
    list.push_back({"compute", computing / micro, "us", "the computing alone; PE 0's mean"});
    list.push_back({"overlap", std::clamp(100 * (1 - (mean - computing) / alone), 0.0, 100.0), "%",
                    "100 (1 - (t - compute) / pure communication), not below 0; all times PE 0's"});
  }
  return list;
}

namespace {

const RegisteredBenchmark registered_osu_shmem("osu_shmem", [] { return std::make_unique<OsuShmem>(); });

}  // namespace

}  // namespace plumb::osu
