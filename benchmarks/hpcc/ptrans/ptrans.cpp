#include "benchmarks/hpcc/ptrans/ptrans.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "benchmarks/hpcc/common/single_device.hpp"
#include "core/units.hpp"
#include "device/opencl_c.hpp"
#include "transport/transport.hpp"

namespace plumb::ptrans {

namespace {

constexpr double milli = 1e-3;
constexpr double arrays = 3;                    // A and B are read, C is written
constexpr std::uint64_t most_blocks = 1 << 13;  // per row
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string texts_of(const std::vector<Grid>& grids) {
  std::vector<std::string> texts;
  for (const Grid& grid : grids) texts.push_back(grid.text());
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Seconds of one count of a phase on the slowest rank; NaN if absent on all ranks.
std::vector<double> phase_seconds(const CaseResult& result, const std::string& phase) {
  const auto found = result.phases_by_rank.find(phase);
  std::vector<double> seconds = found == result.phases_by_rank.end() ? std::vector<double>{} : found->second;
  for (double& value : seconds) value /= static_cast<double>(result.count);
  return seconds;
}

double longest(const std::vector<double>& seconds) {
  double most = nan;
  for (const double value : seconds)
    if (!std::isnan(value) && !(value <= most)) most = value;
  return most;
}

std::string with_underscores(std::string text) {
  std::ranges::replace(text, ' ', '_');
  return text;
}

}  // namespace

// In HLS C++ alone.
std::optional<BoardKernels> Ptrans::board_kernels(BoardTool tool) const {
  if (tool != BoardTool::vpp) return std::nullopt;
  return BoardKernels{.source = "benchmarks/hpcc/ptrans/single_work_item_hls.cpp",
                      .kernels = {{.name = "transpose",
                                   .numbered = "transpose_{replication}",
                                   .arguments = {{"from"}, {"b"}, {"c"}, {"table"}}}},
                      .run = {}};
}

Preset Ptrans::preset(const std::string& name) const {
  if (name == "smoke") return {{"size", "1024"}, {"block-size", "128"}, {"time-limit", "0.5"}};
  if (name == "full") return {{"size", "16384"}, {"time-limit", "30"}};
  return {{"time-limit", "5"}};
}

Problem Ptrans::problem() const {
  const auto block = static_cast<std::uint64_t>(block_size_.get());
  const auto in_blocks = static_cast<std::uint64_t>(size_in_blocks_.get());
  return {in_blocks > 0 ? in_blocks * block : static_cast<std::uint64_t>(size_.get()), block};
}

Grid Ptrans::grid(int ranks) const {
  const int rows = static_cast<int>(grid_rows_.get()), columns = static_cast<int>(grid_columns_.get());
  if (rows == 0 && columns == 0) return squarest(ranks);
  if (rows > 0 && columns > 0) return {rows, columns};
  return rows > 0 ? Grid{rows, ranks / rows} : Grid{ranks / columns, columns};
}

std::string Ptrans::wished_grid() const {
  if (grid_rows_ == 0) return fmt::format("{} columns", grid_columns_.get());
  if (grid_columns_ == 0) return fmt::format("{} rows", grid_rows_.get());
  return fmt::format("{} x {}", grid_rows_.get(), grid_columns_.get());
}

Distribution Ptrans::distribution(int ranks) const {
  return distribution_ == "diagonal" ? Distribution::diagonal(problem(), ranks)
                                     : Distribution::pq(problem(), grid(ranks));
}

Course Ptrans::course() const {
  return {no_overlap_ ? 1 : static_cast<std::uint64_t>(stages_.get()), !no_overlap_};
}

void Ptrans::check(const Plan& plan) const {
  const Problem wanted = problem();
  if (distribution_ == "diagonal" && (grid_rows_.given() || grid_columns_.given()))
    throw UsageError("--grid-rows and --grid-columns require --distribution pq");
  if (no_overlap_ && stages_.given()) throw UsageError("--stages must not be combined with --no-overlap");
  if (distribution_ == "pq" && grid(plan.ranks).ranks() != plan.ranks)
    throw UsageError(fmt::format("a grid of {} does not match {} ranks (choose from {})", wished_grid(), plan.ranks,
                                 texts_of(grids_of(plan.ranks))));
  if (wanted.size > std::uint64_t{1} << 20)
    throw UsageError(fmt::format("--size-in-blocks {} gives matrices of {} rows, above the limit of {}",
                                 size_in_blocks_.get(), wanted.size, 1 << 20));
  if (wanted.blocks() > most_blocks)
    throw UsageError(fmt::format("--block-size {} gives {} rows {} blocks, above the limit of {}", wanted.block,
                                 wanted.size, wanted.blocks(), most_blocks));
  if (!distribution(plan.ranks).shares().all_have_blocks())
    throw UsageError(
        fmt::format("{} x {} blocks of --block-size {} leave a rank of {} without any: --size must be "
                    "larger, or --block-size smaller",
                    wanted.blocks(), wanted.blocks(), wanted.block, plan.ranks));
}

void Ptrans::check_device(const Plan&, const DeviceInfo& device) const {
  if (kernel_ != "default" && !has_opencl_driver(device) && !(kernel_ == "gpu" && device.runtime == "cuda"))
    throw UsageError(fmt::format("--kernel {} is for OpenCL devices{}, not runtime {}", kernel_.get(),
                                 kernel_ == "gpu" ? " and runtime cuda" : "", device.runtime));
}

std::vector<Group> Ptrans::groups(const Plan& plan) const {
  const Problem wanted = problem();
  const std::size_t size = size_of(parse_scalar_type(type_));
  const std::vector<Portion> parts = parts_of(distribution(plan.ranks), plan.rank, course().stages);
  const Extents extents = extents_of(parts, plan.rank, size);
  std::uint64_t items = 0, exchanged = 0;
  for (const Portion& part : parts) {
    items += part.items;
    exchanged += part.partner != plan.rank ? 1 : 0;
  }
  const std::string grid = distribution_ == "pq" ? this->grid(plan.ranks).text() : "-";
  Case measured;
  measured.key = fmt::format("{}/{}/{}", type_.get(), wanted.size, wanted.block);
  measured.labels = {{"type", type_.get()},
                     {"size", wanted.size},
                     {"block", wanted.block},
                     {"distribution", distribution_.get()},
                     {"grid", grid}};
  measured.work.flops = static_cast<double>(items);
  measured.work.bytes_read = 2 * items * size;
  measured.work.bytes_written = items * size;
  measured.work.bytes_sent = extents.sent;
  measured.work.messages = exchanged;
  measured.items_to_check = items;
  measured.witnesses = parts.size() + exchanged;
  measured.most_operations = Slide::most;
  measured.phases = phase_names;
  Group group{"ptrans", {measured}};
  group.device_bytes = extents.all();
  group.largest_buffer_bytes = std::max({extents.a, extents.b, extents.c, extents.received});
  group.host_bytes = extents.c;
  group.exchange_bytes = 2 * extents.sent;
  return {group};
}

// Emulated links connect each rank with one other.
void Ptrans::check_partners(const Session& session) const {
  const std::string& transport = session.transport->info().name;
  const int ranks = session.world.size();
  if (!transport.ends_with("channel") || distribution(ranks).shares().at_most_one_partner()) return;
  std::vector<Grid> serving;
  for (const Grid& grid : grids_of(ranks))
    if (Distribution::pq(problem(), grid).shares().at_most_one_partner()) serving.push_back(grid);
  throw Unsupported(fmt::format(
      "transport {} joins each rank with one partner, but a grid of {} has ranks with several; use {}--distribution "
      "diagonal",
      transport, grid(ranks).text(), serving.empty() ? "" : fmt::format("a grid of {} or ", texts_of(serving))));
}

void Ptrans::prepare(Session& session, const Case&) {
  const ScalarType type = parse_scalar_type(type_);
  if (type == ScalarType::f64) hpcc::require_type(session.device.info(), type);  // half is computed in float
  check_partners(session);
  const Distribution dealt = distribution(session.world.size());
  std::vector<int> alone;
  const Distribution::Shares shares = dealt.shares();
  for (int rank = 0; rank < dealt.ranks(); ++rank)
    if (shares.partners[static_cast<std::size_t>(rank)].empty()) alone.push_back(rank);
  facts_ = {{"stages", course().stages}, {"overlaps", course().overlaps}, {"ranks_that_send_nothing", alone}};
  const KernelForm form = kernel_form(session.device.info(), type, kernel_);
  facts_["kernel"] = session.device.info().type == "native" ? "native" : form.name();
  transposition_ = std::make_unique<Transposition>(session, dealt, form, course());
}

Json Ptrans::facts() const {
  return facts_;
}

std::vector<Metric> Ptrans::metrics(const CaseResult& result, int) const {
  const Problem wanted = problem();
  const double items = static_cast<double>(wanted.size) * static_cast<double>(wanted.size);
  const double bytes = items * static_cast<double>(size_of(parse_scalar_type(type_)));
  const double best = result.best_seconds(), median = result.median_seconds();
  const std::vector<double> exchange = phase_seconds(result, "exchange"), kernel = phase_seconds(result, "kernel");
  double sent = nan;
  std::size_t slowest = 0;
  for (std::size_t rank = 0; rank < std::min(exchange.size(), result.work_by_rank.size()); ++rank) {
    const double rate = static_cast<double>(result.work_by_rank[rank].bytes_sent) / exchange[rank] / giga;
    if (!(rate > 0) || rate >= sent) continue;
    sent = rate;
    slowest = rank;
  }
  const bool sends = !std::isnan(sent);
  std::vector<Metric> metrics{
      {"bandwidth", bytes / best / giga, "GB/s",
       "n^2 numbers of A over the time, HPC Challenge's convention; best repetition, slowest rank"},
      {"bandwidth_median", bytes / median / giga, "GB/s", "the same of the median repetition"},
      {"memory_bandwidth", arrays * bytes / best / giga, "GB/s",
       "3 n^2 numbers, of A, B and C, over the time, HPCC FPGA's convention; best repetition, slowest rank"},
      {"flops", items / best / giga, "GFLOP/s", "n^2 additions over the time; best repetition, slowest rank"},
      {"sent_per_rank", sent, "GB/s",
       fmt::format(
           "bytes that a rank sends over its phase exchange (median repetition); rank {}, the slowest that sends",
           slowest),
       sends ? "" : "no rank sends anything"},
      {"time", best / milli, "ms", "of one transposition; best repetition, slowest rank"},
      {"time_exchange", longest(exchange) / milli, "ms",
       "phase exchange of the rank in which it is longest; median repetition", "", false},
      {"time_kernel", longest(kernel) / milli, "ms",
       course().overlaps
           ? "phase kernel, from the first launch to the end of the last, of the rank in which it is longest; median "
             "repetition"
           : "phase kernel of the rank in which it is longest; median repetition",
       "", false},
  };
  for (const std::size_t leg : {read_phase, host_exchange_phase, write_phase}) {
    const double seconds = longest(phase_seconds(result, phase_names[leg]));
    metrics.push_back({"time_" + with_underscores(phase_names[leg]), seconds / milli, "ms",
                       fmt::format("phase {}, within exchange, of the rank in which it is longest; median repetition",
                                   phase_names[leg]),
                       std::isnan(seconds) ? "the transport does not read, send and write one after the other" : "",
                       false});
  }
  return metrics;
}

namespace {

const RegisteredBenchmark registered_ptrans("ptrans", [] { return std::make_unique<Ptrans>(); });

}  // namespace

}  // namespace plumb::ptrans
