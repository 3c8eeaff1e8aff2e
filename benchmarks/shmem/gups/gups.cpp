#include "benchmarks/shmem/gups/gups.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "benchmarks/hpcc/common/single_device.hpp"
#include "benchmarks/hpcc/random_access/replay.hpp"
#include "core/units.hpp"
#include "measure/clock.hpp"
#include "world/collect.hpp"

namespace plumb::gups {

namespace {

constexpr double lost_updates_allowed = 0.01;  // share of words, HPCC's rule

Way way_of(const std::string& word) {
  return word == "get-put"    ? Way::get_put
         : word == "atomic"   ? Way::atomic
         : word == "bucketed" ? Way::bucketed
                              : Way::threaded;
}

// Half of a node's memory divided by its maximum number of ranks, one per core.
int log2_words_from_memory(int ranks) {
  const auto bytes =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto cores = static_cast<std::uint64_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  const std::uint64_t words = bytes / 2 / 8 / std::min(cores, static_cast<std::uint64_t>(ranks));
  return static_cast<int>(std::bit_width(words)) - 1;
}

}  // namespace

Preset Gups::preset(const std::string& name) const {
  if (name == "smoke") return {{"size", "16"}, {"time-limit", "0.3"}, {"time-bound", "2"}};
  if (name == "full") return {{"size", "0"}, {"time-limit", "60"}};
  return {{"size", "21"}, {"time-limit", "3"}, {"min-repetitions", "6"}};
}

std::vector<std::string> Gups::variants() const {
  if (!(variant_ == "all")) return {variant_.get()};
  std::vector<std::string> all{"get-put", "atomic", "bucketed"};
  if (threads_.given()) all.emplace_back("threaded");
  return all;
}

Problem Gups::problem(int ranks) const {
  const int log2_words = size_.get() > 0 ? static_cast<int>(size_.get()) : log2_words_from_memory(ranks);
  return {stream_ == "lcg" ? Stream::lcg : Stream::polynomial, log2_words, ranks};
}

std::vector<Group> Gups::groups(const Plan& plan) const {
  const Problem problem = this->problem(plan.ranks);
  Group group;
  group.key = "table";
  for (const std::string& variant : variants()) {
    Case one;
    one.key = fmt::format("{}/{}", variant, 8 * problem.words());
    one.labels = {{"variant", variant}, {"table_bytes", 8 * problem.words()}};
    one.payload = Payload(way_of(variant));
    if (variant == "threaded") one.labels["threads"] = threads_.get();
    one.items_to_check = problem.part(plan.rank).words;
    one.work.updates = 4 * one.items_to_check;
    one.fixed_count = 1;  // a second round would undo the first
    group.cases.push_back(std::move(one));
  }
  group.symmetric_bytes = 8 * memory_words(problem);
  return {group};
}

Share Gups::share(int rank) const {
  const TableRange part = problem_->part(rank);
  const auto count = static_cast<std::uint64_t>(done_ * 4 * static_cast<double>(part.words));
  return {4 * part.first, std::clamp<std::uint64_t>(count, 1, 4 * part.words)};
}

void Gups::prepare(Session& session, const Case& measured) {
  const int ranks = session.world.size();
  problem_ = std::make_unique<Problem>(problem(ranks));
  updater_ = make_updater_(session.world, *problem_, measured.payload.as<Way>(), static_cast<int>(threads_.get()));
  done_ = share_in_time(session.world);
  double updates = 0;
  for (int rank = 0; rank < ranks; ++rank) updates += static_cast<double>(share(rank).count);
  updates_[measured.key] = updates;
  asked_ = made_ = 0;
}

// The slowest rank's time of a hundredth of the updates determines the number of updates within the time limit.
double Gups::share_in_time(World& world) {
  constexpr double part = 0.01;
  done_ = part;
  fill(world.rank());
  const double begin = now_seconds();
  updater_->run(share(world.rank()));
  updater_->memory().synchronise();
  const std::vector<double> seconds = gather_values(world, now_seconds() - begin);
  const double slowest = seconds.empty() ? 0 : *std::max_element(seconds.begin(), seconds.end());
  return broadcast_value(world, std::min(1.0, time_bound_ * part / slowest));
}

void Gups::fill(int rank) {
  const TableRange part = problem_->part(rank);
  for (std::uint64_t i = 0; i < part.words; ++i) updater_->memory().words()[i] = part.first + i;
  updater_->memory().synchronise();
}

void Gups::reset(Session& session, const Case&, std::uint64_t, std::uint64_t) {
  fill(session.world.rank());
}

void Gups::run(Session& session, const Case&, Timed& timed) {
  const Share mine = share(session.world.rank());
  const std::uint64_t made = updater_->run(mine);
  asked_ += mine.count;
  made_ += made;
  timed.tally("updates", static_cast<double>(made));
}

// Updates of all ranks in all runs so far, including those not replayed: must equal the number requested.
void Gups::check_made(World& world, Validation& validation) {
  struct Counts {
    std::uint64_t asked, made;
  } all{0, 0};
  for (const Counts& one : gather_values(world, Counts{asked_, made_})) {
    all.asked += one.asked;
    all.made += one.made;
  }
  all = broadcast_value(world, all);
  if (all.made == all.asked) return;
  validation.wrong_items += all.made < all.asked ? all.asked - all.made : all.made - all.asked;
  validation.allowed_wrong_items = 0;
  validation.detail = fmt::format("{} updates were made, should be {}", all.made, all.asked);
}

Validation Gups::validate(Session& session, const Case& measured, std::uint64_t, std::uint64_t) {
  updater_->memory().synchronise();
  const Task task = problem_->task(session.world.rank());
  std::vector<random_access::Run> runs;
  for (int rank = 0; rank < problem_->ranks(); ++rank) runs.push_back({share(rank).first, share(rank).count});
  const std::span words(updater_->memory().words(), task.part.words);
  Validation validation;
  validation.tolerance = measured.payload.as<Way>() == Way::get_put ? lost_updates_allowed : 0;
  const double all = static_cast<double>(words.size());
  const auto allowed = static_cast<std::uint64_t>(validation.tolerance * all);
  const random_access::Replayed found = random_access::replay(problem_->stream(), task, runs, words, allowed);
  validation.wrong_items = found.wrong;
  validation.allowed_wrong_items = found.unexplained > 0 ? 0 : allowed;
  validation.error = static_cast<double>(found.wrong) / all;
  validation.items_checked = words.size();
  validation.reference = "the stream regenerated by the host and undone";
  if (found.wrong > validation.allowed_wrong_items)
    validation.detail = fmt::format("{} of {} words are wrong (at most {} may be); {}", found.wrong, words.size(),
                                    allowed, found.detail);
  check_made(session.world, validation);
  return validation;
}

Json Gups::facts() const {
  return {{"look_ahead", look_ahead}, {"updates_done", done_}};
}

void Gups::release() {
  updater_.reset();
}

std::vector<Metric> Gups::metrics(const CaseResult& result, int ranks) const {
  const double updates = updates_.at(result.measured->key);
  std::vector<Metric> all = hpcc::parallel_metrics("updates", "GUP/s", giga, updates / ranks, result, ranks);
  all.push_back({"update_time", result.best_seconds() * ranks / updates * giga, "ns",
                 "t of the slowest rank / updates of a rank; best repetition"});
  return all;
}

}  // namespace plumb::gups
