#include "benchmarks/hpcc/b_eff/b_eff.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/units.hpp"

namespace plumb::b_eff {

namespace {

constexpr int largest_effective = 20;  // b_eff is the mean over exactly 2^0..2^20 B
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Timed part of a case: a part of a ring's transfers, with messages of 2^exponent bytes (launch: none).
struct Point {
  std::string ring, part;
  int exponent = 0;
  std::uint64_t bytes() const { return std::uint64_t{1} << exponent; }
};

const Point& point_of(const CaseResult& result) {
  return result.measured->payload.as<Point>();
}

// Parts without messages, and those within a rank.
bool is_single(const std::string& part) {
  return part == "launch" || part == "command";
}
bool is_copy(const std::string& part) {
  return part == "read" || part == "write" || part == "copy";
}

double find_metric(const std::vector<Metric>& metrics, const std::string& name) {
  for (const Metric& metric : metrics)
    if (metric.name == name) return metric.value;
  return nan;
}

}  // namespace

namespace {

// Boards of v++ have no io channels: hosts pass messages on, and a bitstream has the kernel of part launch alone, with
// a bank for the buffers.
BoardKernels launch_kernels() {
  return {.source = launch_file,
          .kernels = {{.name = "count_launch", .numbered = "count_launch_{replication}", .arguments = {{"counter"}}}},
          .own_banks = false,
          .run = {}};
}

}  // namespace

// Of boards with io channels, four of which are a replication's: two for each lane.
std::optional<BoardKernels> BEff::board_kernels(BoardTool tool) const {
  if (tool == BoardTool::vpp) return launch_kernels();
  BoardKernels made{.source = "engine/transport/channel/board.cl",
                    .includes = {"engine/transport/pair/pair.cl", "engine/transport/channel/channel.cl",
                                 "engine/transport/pair/port.cl", "engine/transport/rounds.cl"},
                    .channels = 4,
                    .own_banks = false,
                    .run = {}};
  for (const char* lane : {"a", "b"})
    for (const char* kernel : {"rounds_send", "rounds_receive"})
      made.kernels.push_back({.name = fmt::format("{}_{}", kernel, lane),
                              .numbered = fmt::format("{}_{{replication}}_{}", kernel, lane),
                              .arguments = {{"port_view", 0}}});
  return made;
}

Preset BEff::preset(const std::string& name) const {
  if (name == "smoke") return {{"time-limit", "0.2"}};
  if (name == "full") return {{"time-limit", "5"}, {"max-size", "26"}, {"ring", "both"}};
  return {{"time-limit", "1"}};
}

void BEff::check(const Plan& plan) const {
  if (min_size_.get() > max_size_.get())
    throw UsageError(fmt::format("--min-size {} must not exceed --max-size {}", min_size_.get(), max_size_.get()));
  if (loop_lower_.get() > loop_upper_.get())
    throw UsageError(
        fmt::format("--loop-lower {} must not exceed --loop-upper {}", loop_lower_.get(), loop_upper_.get()));
  if (traffic() == Traffic::ping_pong && plan.ranks < 2) throw UsageError("--form ping-pong needs two ranks or more");
}

bool BEff::by_formula() const {
  return loop_upper_.given() || loop_lower_.given() || loop_offset_.given() || loop_decrease_.given();
}

std::uint64_t BEff::fixed_count(int exponent) const {
  if (!by_formula()) return 0;
  const std::uint64_t length = LoopFormula{loop_upper_, loop_lower_, loop_offset_, loop_decrease_}.length(exponent);
  const auto batch = static_cast<std::uint64_t>(batch_.get());
  return traffic() == Traffic::batched ? (length + batch - 1) / batch * batch : length;
}

Traffic BEff::traffic() const {
  if (form_ == "ping-pong") return Traffic::ping_pong;
  return form_ == "batched" ? Traffic::batched : Traffic::exchange;
}

// Of the longest loop: HPCC FPGA's, or the engine's limit, within little memory and long enough for the clock.
std::uint64_t BEff::most_rounds(int exponent) const {
  if (by_formula()) return fixed_count(exponent);
  constexpr std::uint64_t fewest = 1024, most = 65536, bytes = 16 << 20;
  const std::uint64_t rounds = std::clamp(bytes >> exponent, fewest, most);
  return traffic() == Traffic::batched ? rounds - rounds % static_cast<std::uint64_t>(batch_.get()) : rounds;
}

Pattern BEff::pattern(const std::string& ring, int exponent, const Plan& plan) const {
  Pattern pattern;
  pattern.traffic = traffic();
  pattern.place = place_in(ring == "random" ? random_ring(plan.ranks, plan.seed) : natural_ring(plan.ranks), plan.rank);
  pattern.rank = plan.rank;
  pattern.replications = static_cast<std::uint64_t>(replications_.get());
  pattern.batch = static_cast<std::uint64_t>(batch_.get());
  pattern.bytes = std::size_t{1} << exponent;
  pattern.rounds = most_rounds(exponent);
  return pattern;
}

Case BEff::make_case(const std::string& ring, const std::string& part, int exponent, const Plan& plan) const {
  const Pattern p = pattern(ring, exponent, plan);
  Case result;
  result.key = fmt::format("{}/{}/{}", ring, part, is_single(part) ? 1 : p.bytes);
  result.labels = {{"ring", ring}, {"part", part}};
  result.payload = Payload(Point{ring, part, exponent});
  result.fixed_count = fixed_count(exponent);
  if (is_single(part)) {
    result.items_to_check = 1;
    return result;
  }
  result.labels["message_bytes"] = p.bytes;
  const bool copies = is_copy(part);
  const std::uint64_t whole = copies ? 1 : p.window(), kept = copies ? p.kept_of_copy() : p.kept_bytes();
  result.items_to_check = p.lanes() * (whole * p.bytes - (whole - 1) * kept);
  result.witnesses = p.lanes() * kept;
  result.most_operations = p.rounds;
  result.work.messages = p.lanes();
  std::uint64_t& bytes = part == "write" ? result.work.bytes_written
                         : copies        ? result.work.bytes_read
                                         : result.work.bytes_sent;
  bytes = p.lanes() * p.bytes;
  return result;
}

Group BEff::make_group(const std::string& ring, const std::string& part, const Plan& plan) const {
  Group group;
  group.key = ring + "/" + part;
  if (is_single(part)) {
    group.cases.push_back(make_case(ring, part, 0, plan));
    group.device_bytes = sizeof(std::uint64_t);
    return group;
  }
  const bool copies = is_copy(part);
  for (auto exponent = static_cast<int>(min_size_.get()); exponent <= max_size_.get(); ++exponent) {
    group.cases.push_back(make_case(ring, part, exponent, plan));
    const Pattern p = pattern(ring, exponent, plan);
    const std::uint64_t lane = copies ? p.copies_bytes() : p.lane_bytes();
    group.device_bytes = std::max<std::uint64_t>(group.device_bytes, p.lanes() * lane);
    group.largest_buffer_bytes = std::max<std::uint64_t>(group.largest_buffer_bytes, lane);
    group.host_bytes = std::max<std::uint64_t>(group.host_bytes, copies ? (p.lanes() + 1) * lane : p.pitch());
    group.exchange_bytes = std::max<std::uint64_t>(group.exchange_bytes, 2 * p.lanes() * p.window() * p.bytes);
  }
  return group;
}

std::vector<Group> BEff::groups(const Plan& plan) const {
  std::vector<std::string> rings{ring_.get()}, parts{part_choice_.get()};
  if (ring_ == "both") rings = {"natural", "random"};
  if (part_choice_ == "all") parts = {"launch", "read", "exchange", "write", "transfer"};
  std::vector<Group> groups;
  for (const std::string& ring : rings)
    for (const std::string& part : parts) groups.push_back(make_group(ring, part, plan));
  return groups;
}

void BEff::prepare(Session& session, const Case& measured) {
  const auto& [ring, part, exponent] = measured.payload.as<Point>();
  const Plan plan{session.world.rank(), session.world.size(), session.seed};
  part_ = make_part(part, session, pattern(ring, exponent, plan));
}

std::uint64_t BEff::admissible_count(const Case& measured, std::uint64_t wanted) const {
  if (is_single(measured.payload.as<Point>().part)) return wanted;
  const std::uint64_t window = traffic() == Traffic::batched ? static_cast<std::uint64_t>(batch_.get()) : 1;
  return (wanted + window - 1) / window * window;
}

std::vector<Metric> BEff::metrics(const CaseResult& result, int ranks) const {
  const std::string& part = point_of(result).part;
  const double ways = traffic() == Traffic::ping_pong && (part == "transfer" || part == "exchange") ? 2.0 : 1.0;
  const double best = result.best_seconds() / ways, median = result.median_seconds() / ways;
  const std::string what = part == "launch"    ? "one kernel, launched and waited for"
                           : part == "command" ? "one command without work, issued and waited for"
                           : ways > 1          ? "one way: half of a message there and back"
                                               : "one message to each neighbour";
  std::vector<Metric> list{
      {"time_per_message", best / micro, "us", what + "; best repetition, slowest rank", ""},
      {"time_per_message_median", median / micro, "us", what + "; median repetition, slowest rank", ""}};
  if (is_single(part)) return list;
  const auto r = static_cast<double>(replications_.get());
  const auto length = static_cast<double>(point_of(result).bytes());
  const double p = ranks;
  const double neighbours = ways > 1 ? 1 : 2;
  const double senders = ways > 1 ? std::floor(p / 2) : p;
  const double per_rank = neighbours * r * length / best / giga;
  const std::string rate = fmt::format("{}rL/t, {}; best repetition, slowest rank", neighbours > 1 ? "2" : "",
                                       is_copy(part) ? "bytes copied by one rank" : "bytes sent by one rank");
  list.push_back({"bandwidth_per_rank", per_rank, "GB/s", rate, ""});
  list.push_back({"bandwidth_total", senders * per_rank, "GB/s", "that of all ranks together", ""});
  if (part == "transfer")
    list.push_back({"bandwidth_hpcc_fpga", p * r * length / (best * ways) / giga, "GB/s",
                    "HPCC FPGA's convention p*r*L*loop/t, where a replication's message counts once", "", false});
  return list;
}

Metric BEff::bandwidth_mean(const std::vector<CaseResult>& results, const std::string& ring, const std::string& metric,
                            int ranks) const {
  double sum = 0;
  std::vector<std::string> missing;
  for (int exponent = 0; exponent <= largest_effective; ++exponent) {
    const auto found = std::find_if(results.begin(), results.end(), [&](const CaseResult& r) {
      const Point& point = point_of(r);
      return point.ring == ring && point.part == "transfer" && point.exponent == exponent;
    });
    if (found == results.end() || !found->passed || found->summary.samples == 0)
      missing.push_back(fmt::format("2^{}", exponent));
    else
      sum += find_metric(metrics(*found, ranks), metric);
  }
  Metric mean{"", missing.empty() ? sum / (largest_effective + 1) : nan, "GB/s", "", ""};
  if (!missing.empty())
    mean.reason = fmt::format(
        "the mean over 2^0..2^20 B lacks a valid result for {}",
        missing.size() > 4 ? fmt::format("{} sizes", missing.size()) : fmt::format("{}", fmt::join(missing, ", ")));
  mean.group = ring;
  return mean;
}

std::vector<Metric> BEff::aggregate(const std::vector<CaseResult>& results, int ranks) const {
  std::vector<Metric> list;
  std::vector<std::string> rings;
  for (const CaseResult& result : results) {
    const auto& [ring, part, exponent] = point_of(result);
    if (part == "transfer" && std::find(rings.begin(), rings.end(), ring) == rings.end()) rings.push_back(ring);
  }
  for (const std::string& ring : rings) {
    const auto add = [&](const char* name, const char* metric, const char* convention) {
      Metric mean = bandwidth_mean(results, ring, metric, ranks);
      mean.name = name;
      mean.convention = convention;
      list.push_back(std::move(mean));
    };
    add("b_eff_per_rank", "bandwidth_per_rank",
        "mean over 2^0..2^20 B of the best 2rL/t, bytes sent by one rank (eq. 4.1)");
    add("b_eff", "bandwidth_total", "the same of all ranks together");
    add("b_eff_hpcc_fpga", "bandwidth_hpcc_fpga", "mean over 2^0..2^20 B of HPCC FPGA's p*r*L*loop/t");
    const auto smallest = std::find_if(results.begin(), results.end(), [&](const CaseResult& r) {
      return point_of(r).ring == ring && point_of(r).part == "transfer";
    });
    Metric latency{"latency", nan, "us", "", "the smallest message gave no valid result"};
    latency.convention = fmt::format("time of a message of {} to each neighbour; best repetition, slowest rank",
                                     format_bytes(point_of(*smallest).bytes()));
    latency.group = ring;
    if (smallest->passed && smallest->summary.samples > 0) {
      latency.value = find_metric(metrics(*smallest, ranks), "time_per_message");
      latency.reason = "";
    }
    list.push_back(std::move(latency));
  }
  return list;
}

namespace {

const RegisteredBenchmark registered_b_eff("b_eff", [] { return std::make_unique<BEff>(); });

}  // namespace

}  // namespace plumb::b_eff
