#include "benchmarks/shmem/ssca1/ssca1.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "benchmarks/shmem/ssca1/blocked.hpp"
#include "benchmarks/shmem/ssca1/device_kernel1.hpp"
#include "benchmarks/shmem/ssca1/oracle.hpp"
#include "world/collect.hpp"
#include "world/watchdog.hpp"

namespace plumb::ssca1 {

namespace {

constexpr double oracle_cells = 0x1p32, blocked_cells = 0x1p36;  // at most
constexpr std::size_t shown = 10;                                // alignments in the record

enum Phase : std::size_t { scoring, selection, details };

double cells_of(std::uint64_t length) {
  return static_cast<double>(length) * static_cast<double>(length);
}

std::unique_ptr<Kernel1> make_blocked(World& world, const Problem& problem, std::uint64_t tile, int bits) {
  const auto memory = [&](std::uint64_t bytes) {
    return world.size() > 1 ? make_one_sided(world, bytes, 1) : nullptr;  // one rank sends nothing
  };
  if (bits == 16)
    return std::make_unique<Blocked<std::int16_t>>(world, problem, tile,
                                                   memory(blocked_bytes<std::int16_t>(problem.length(), tile)));
  return std::make_unique<Blocked<std::int32_t>>(world, problem, tile,
                                                 memory(blocked_bytes<std::int32_t>(problem.length(), tile)));
}

}  // namespace

Preset Ssca1::preset(const std::string& name) const {
  if (name == "smoke") return {{"scale", "18"}};
  return {{"scale", name == "full" ? "28" : "24"}};
}

std::vector<std::string> Ssca1::variants() const {
  if (!(variant_ == "all")) return {variant_.get()};
  return {"put-get", "threaded", "blocked"};
}

Scores Ssca1::scores() const {
  const auto as = [](const Parameter<std::int64_t>& value) { return static_cast<int>(value.get()); };
  return {as(exact_), as(similar_), as(dissimilar_), as(gap_start_), as(gap_extend_)};
}

std::uint64_t Ssca1::limit() const {
  if (match_limit_ > 0) return static_cast<std::uint64_t>(match_limit_.get());
  return static_cast<std::uint64_t>(std::ceil(3 * scale_.get()));
}

Proof Ssca1::proof() const {
  if (!(proof_ == "auto"))
    return proof_ == "oracle" ? Proof::oracle : proof_ == "blocked" ? Proof::blocked : Proof::windows;
  const double cells = cells_of(length_of(scale_));
  return cells <= oracle_cells ? Proof::oracle : cells <= blocked_cells ? Proof::blocked : Proof::windows;
}

void Ssca1::check(const Plan&) const {
  if (tile_ % static_cast<std::int64_t>(block_columns) != 0)
    throw UsageError(fmt::format("--tile must be a multiple of {}, not {}", block_columns, tile_.get()));
  if (similar_ > exact_)
    throw UsageError(fmt::format("--similar {} must not be above --exact {}", similar_.get(), exact_.get()));
  if (form_ == "strips" && !scores_fit_bytes(scores()))
    throw UsageError("--form strips needs --exact, --similar and --dissimilar from -128 to 127: use --form tiles");
}

void Ssca1::check_device(const Plan&, const DeviceInfo& info) const {
  if (on_device() && info.runtime == "native")
    throw UsageError("--variant device needs a device that compiles kernels: --runtime opencl or cuda");
}

std::vector<Group> Ssca1::groups(const Plan& asked) const {
  const std::uint64_t length = length_of(scale_), tile = this->tile();
  const int ranks = asked.ranks;
  std::vector<Group> all;
  for (const std::string& variant : variants()) {
    const bool is_blocked = variant == "blocked", has_bits = is_blocked || on_device();
    Group group;
    group.key = variant;
    Case one;
    one.key = has_bits ? fmt::format("{}/{}", variant, bits_.get()) : variant;
    one.labels = {{"variant", variant}, {"scale", scale_.get()}, {"length", length}};
    if (has_bits) one.labels["bits"] = bits_ == "16" ? 16 : 32;
    if (is_blocked) one.labels["tile"] = tile;
    if (variant == "threaded") one.labels["threads"] = threads_.get();
    one.work.updates = length * length / static_cast<std::uint64_t>(ranks);
    one.fixed_count = 1;
    one.phases = {"scoring", "selection", "details"};
    one.items_to_check = asked.rank == 0 && proof() == Proof::oracle ? length * length : 1;
    const std::uint64_t blocked = blocked_bytes<std::int32_t>(length, tile);
    group.symmetric_bytes = is_blocked ? blocked : on_device() ? 0 : put_get_bytes(length, ranks);
    if (proof() == Proof::blocked) group.symmetric_bytes += blocked;
    if (on_device()) {
      const DeviceBytes needed = device_bytes(length, ranks, device_tile());
      group.device_bytes = needed.all;
      group.largest_buffer_bytes = needed.largest_buffer;
      group.exchange_bytes = needed.message;
    }
    // Both pairs of strings twice and the kernel's, rows and gaps of the serial computation; what rows keep.
    group.host_bytes = 18 * length + (is_blocked ? 16 * length / static_cast<std::uint64_t>(ranks) : 0);
    group.cases.push_back(std::move(one));
    all.push_back(std::move(group));
  }
  return all;
}

Strings Ssca1::strings(const Maker& maker, int) const {
  return make_strings(maker);
}

void Ssca1::prepare_group(Session& session, const Group& group, Timed&) {
  World& world = session.world;
  std::vector<int> ranks(static_cast<std::size_t>(world.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  team_ = world.team(ranks);
  for (std::size_t pair = pairs_.size(); pair < pairs; ++pair) {
    const Maker maker(session.seed, length_of(scale_), pair);
    pairs_.push_back({maker, strings(maker, world.rank()), {make_strings(maker), scores(), minimum_}});
  }
  problem_ = {pairs_[0].given, kernel_scores(), minimum_};
  first_outcome_ = {};
  const int bits = bits_ == "16" ? 16 : 32;
  kernel_ = on_device() ? make_device_kernel1(session, *team_, problem_, bits, device_tile(), form_.get())
                        : make_kernel1(world, group.key, bits);
}

std::unique_ptr<Kernel1> Ssca1::make_kernel1(World& world, const std::string& variant, int bits) {
  if (variant == "blocked") return make_blocked(world, problem_, tile(), bits);
  const int threads = variant == "threaded" ? static_cast<int>(threads_.get()) : 1;
  return make_put_get(world, problem_, make_one_sided(world, put_get_bytes(problem_.length(), world.size()), threads));
}

void Ssca1::reset(Session&, const Case&, std::uint64_t repetition, std::uint64_t) {
  outcome_ = {};
  pair_ = repetition % pairs;
  problem_.strings = pairs_[pair_].given;
  kernel_->reset();
}

// Those of all ranks, on every rank.
std::vector<End> Ssca1::gathered(std::vector<End> mine) const {
  const std::vector<std::size_t> one(static_cast<std::size_t>(team_->size()), 1);
  std::vector<std::size_t> counts(one.size());
  const std::size_t count = mine.size();
  team_->all_gather<std::size_t>(std::span(&count, 1), counts, one);
  std::vector<End> all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  team_->all_gather<End>(mine, all, counts);
  return all;
}

// Each rank takes a share of the ends.
std::vector<Alignment> Ssca1::align_all(const std::vector<End>& kept) const {
  struct Start {
    std::uint64_t main, match, steps;
  };
  const std::size_t wanted = std::min(kept.size(), static_cast<std::size_t>(alignments_.get()));
  const auto ranks = static_cast<std::size_t>(team_->size()), rank = static_cast<std::size_t>(team_->rank());
  std::vector<std::size_t> counts(ranks), bytes(ranks);
  for (std::size_t i = 0; i < ranks; ++i) counts[i] = wanted * (i + 1) / ranks - wanted * i / ranks;
  std::vector<Start> mine, starts(wanted);
  std::string steps;
  for (std::size_t i = wanted * rank / ranks; i < wanted * (rank + 1) / ranks; ++i) {
    const Alignment found = detail(problem_, kept[i]);
    mine.push_back({found.main, found.match, found.steps.size()});
    steps += found.steps;
  }
  team_->all_gather<Start>(mine, starts, counts);
  std::size_t next = 0;
  for (std::size_t i = 0; i < ranks; ++i)
    for (std::size_t k = 0; k < counts[i]; ++k) bytes[i] += starts[next++].steps;
  std::string all_steps(std::accumulate(bytes.begin(), bytes.end(), std::size_t{0}), ' ');
  team_->all_gather<char>(steps, std::span<char>(all_steps), bytes);
  std::vector<Alignment> all;
  next = 0;
  for (const Start& start : starts) {
    all.push_back({start.main, start.match, all_steps.substr(next, start.steps)});
    next += start.steps;
  }
  return all;
}

void Ssca1::run(Session&, const Case&, Timed& timed) {
  Found found;
  {
    const auto phase = timed.phase(scoring);
    found = find(*kernel_);
  }
  {
    const auto phase = timed.phase(selection);
    if (team_->all_reduce<std::uint64_t>(found.overflowed ? 1 : 0, Fold::maximum) > 0)
      throw Error(bits_ == "16" ? "a score does not fit 16 bits; use --bits 32"
                                : "a score does not fit 32 bits: lower --exact or --scale");
    outcome_.ends = gathered(std::move(found.ends));
    outcome_.kept = select(outcome_.ends, problem_.strings, static_cast<std::uint64_t>(separation_.get()),
                           static_cast<std::size_t>(reports_.get()));
  }
  const Timed::Pause pause(timed);
  {
    const auto phase = timed.phase(details);
    outcome_.alignments = align_all(outcome_.kept);
  }
  timed.tally("cells", static_cast<double>(found.cells));
  outcome_.cells = team_->all_reduce(found.cells, Fold::sum);
  if (pair_ == 0) first_outcome_ = outcome_;
}

// All ends of a pair, computed once a run. By the oracle: on rank 0 alone.
const std::vector<End>& Ssca1::reference(World& world, Pair& pair) {
  if (pair.reference) return *pair.reference;
  const double cells = cells_of(pair.right.length());
  const Waiting waiting("the computation that ends are compared with", 60 + cells * 50e-9);
  if (proof() == Proof::oracle) {
    const Range all{0, pair.right.length()};
    if (world.rank() == 0)
      pair.reference =
          oracle(pair.right.strings, pair.right.scores, pair.right.minimum, all, all, [] { Waiting::progress(); });
    else
      pair.reference.emplace();
    return *pair.reference;
  }
  const auto other = make_blocked(world, pair.right, tile(), bits_ == "16" ? 32 : 16);
  other->reset();
  Found found = other->run();
  if (team_->all_reduce<std::uint64_t>(found.overflowed ? 1 : 0, Fold::maximum) > 0)
    throw Error("scores do not fit 16 bits, so --proof blocked cannot be had: use --proof windows");
  pair.reference = gathered(std::move(found.ends));
  return *pair.reference;
}

Validation Ssca1::validate(Session& session, const Case& measured, std::uint64_t, std::uint64_t) {
  World& world = session.world;
  Pair& pair = pairs_[pair_];
  const Waiting waiting("the validation of all ranks", 60 + cells_of(pair.right.length()) * 50e-9);
  const Rules rules{static_cast<std::uint64_t>(separation_.get()), limit(), static_cast<std::size_t>(reports_.get()),
                    static_cast<std::size_t>(alignments_.get())};
  Findings findings;
  if (proof() == Proof::blocked || (proof() == Proof::oracle && world.rank() == 0))
    check_ends(outcome_, reference(world, pair), findings);
  if (proof() != Proof::oracle)
    check_windows(pair.right, outcome_, static_cast<std::uint64_t>(world.rank()),
                  static_cast<std::uint64_t>(world.size()), findings);
  if (world.rank() == 0) check_reports(pair.right, outcome_, rules, findings);
  check_plants(pair.right, pair.maker, outcome_, rules, proof() != Proof::windows && findings.wrong == 0, findings);
  const std::uint64_t length = pair.right.length();
  findings.note(outcome_.cells == length * length,
                fmt::format("{} cells were told, and there are {}", outcome_.cells, length * length));
  findings.note(broadcast_value(world, digest_of(outcome_)) == digest_of(outcome_),
                "rank 0 and this rank have different results");
  Validation validation;
  validation.items_checked = measured.items_to_check;
  validation.wrong_items = findings.wrong;
  validation.error = static_cast<double>(findings.wrong);
  validation.reference = proof() == Proof::oracle    ? "all cells one by one, row by row"
                         : proof() == Proof::blocked ? "all cells by variant blocked with other bits, and 1,000 windows"
                                                     : "1,000 windows, and those round the reported ends";
  validation.detail = findings.first;
  return validation;
}

// Of the first pair, so that they do not depend on the number of repetitions.
Json Ssca1::facts() const {
  const Digest ends = digest_of(first_outcome_.ends);
  Json all = kernel_ ? kernel_->facts() : Json::object();
  all.update(Json{{"length", length_of(scale_)},
                  {"ends", ends.count},
                  {"ends_hash", fmt::format("{:016x}", ends.hash)},
                  {"results_hash", fmt::format("{:016x}", digest_of(first_outcome_).hash)},
                  {"ends_reported", first_outcome_.kept.size()},
                  {"kernels_left_out", "3 to 5"}});
  if (proof() != Proof::oracle)
    all["not_proven"] = proof() == Proof::blocked ? "that both widths of variant blocked have no error in common"
                                                  : "ends outside of the windows";
  Json best = Json::array();
  for (std::size_t i = 0; i < std::min(shown, first_outcome_.alignments.size()); ++i) {
    const Alignment& one = first_outcome_.alignments[i];
    best.push_back({{"score", first_outcome_.kept[i].score},
                    {"main", {one.main, first_outcome_.kept[i].main}},
                    {"match", {one.match, first_outcome_.kept[i].match}},
                    {"steps", one.steps}});
  }
  all["best"] = std::move(best);
  return all;
}

void Ssca1::release_group() {
  kernel_.reset();
  team_.reset();
}

std::vector<Metric> Ssca1::metrics(const CaseResult& result, int) const {
  const double cells = cells_of(length_of(scale_));
  const auto slowest = [&](const char* phase) { return reduced(result.phases_by_rank.at(phase), RankRule::slowest); };
  return {{"CUPS", cells / result.best_seconds(), "CUPS",
           "cells of kernel 1 / t of the slowest rank, with the selection of ends"},
          {"kernel_2", slowest("details"), "s", "kernel 2: median of the slowest rank", {}, false}};
}

namespace {

const RegisteredBenchmark registered_ssca1("ssca1", [] { return std::make_unique<Ssca1>(); });

}  // namespace

}  // namespace plumb::ssca1
