#include "measure/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "device/host_share.hpp"

namespace plumb {

namespace {

// Of a visit, unless `shortest_limit` and the others end it earlier, as they do with long operations.
constexpr std::uint64_t fewest_repetitions = 8;
constexpr double shortest_limit = 0.003, longest_limit = 0.1;  // seconds of one visit's repetitions
constexpr double limit_share = 0.03;                           // of the time limit of a case
constexpr double sample_seconds = 0.3e-3, longest_sample_seconds = 2e-3;
constexpr std::size_t most_visits_in_a_row = 3;
constexpr const char* own_label = "message_bytes";  // of parts that belong to the cases of one message size
constexpr std::uint64_t most_measurements = 3;      // of a case
constexpr double standing_out = 1.07;
constexpr double noisy = 1.15;  // median over lower tenth: not all samples were alike

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

std::vector<std::string> keys_of(const std::string& list) {
  std::vector<std::string> keys;
  std::istringstream text(list);
  for (std::string key; std::getline(text, key, ',');) keys.push_back(key);
  return keys;
}

PartsOf parse_part(const std::string& text) {
  std::istringstream words(text);
  std::string word;
  words >> word;
  const auto& registry = Registry<BenchmarkFactory>::instance();
  const BenchmarkFactory* factory = registry.find(word);
  if (factory == nullptr) throw UsageError("--parts: " + unknown_name("benchmark", word, registry.names()));
  std::shared_ptr<Benchmark> benchmark = (*factory)();
  if (benchmark->needs_transport())
    throw UsageError("--parts: " + word + " uses a transport, which is judged by parts");
  std::vector<std::string> within;
  while (words >> word) {
    const std::size_t equals = word.find('=');
    if (word.substr(0, equals) == "within" && equals != std::string::npos) {
      within = keys_of(word.substr(equals + 1));
      continue;
    }
    ParameterBase* option = benchmark->find(word.substr(0, equals));
    if (equals == std::string::npos || option == nullptr)
      throw UsageError(
          fmt::format("--parts: {} must be an option of {} and its value, as size=24", word, benchmark->name()));
    option->parse(word.substr(equals + 1));
  }
  return {text, std::move(benchmark), std::move(within)};
}

RunSettings settings_of(RunSettings settings) {
  settings.policy.fixed = 0;
  settings.policy.minimum = fewest_repetitions;
  settings.policy.least_seconds = 0;
  settings.policy.time_limit = std::clamp(limit_share * settings.policy.time_limit, shortest_limit, longest_limit);
  settings.target_sample = sample_seconds;
  settings.longest_sample = longest_sample_seconds;
  settings.parts.clear();
  return settings;
}

std::vector<double> of_one_count(std::vector<double> seconds, std::uint64_t count) {
  for (double& value : seconds) value /= static_cast<double>(count);
  return seconds;
}

void append_to(std::vector<double>& to, const std::vector<double>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

double lower_tenth(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 10];
}

// The time by the mean rate, as in plumbline/judge/levels.py: all count, and a disturbed one never by more than its
// share.
double harmonic_mean(const std::vector<double>& seconds) {
  double rates = 0;
  for (const double one : seconds) rates += 1 / one;
  return static_cast<double>(seconds.size()) / rates;
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(finite_or_null(value));
  return list;
}

Json parameters_of(const Benchmark& benchmark) {
  Json result = Json::object();
  for (const ParameterBase* parameter : benchmark.parameters()) result[parameter->name()] = parameter->value_json();
  return result;
}

// A program that others use as well.
class SharedProgram : public Program {
 public:
  explicit SharedProgram(std::shared_ptr<Program> program) : program_(std::move(program)) {}
  std::unique_ptr<Kernel> kernel(const std::string& name) override { return program_->kernel(name); }
  std::vector<std::string> kernel_names() const override { return program_->kernel_names(); }

 private:
  std::shared_ptr<Program> program_;
};

}  // namespace

std::unique_ptr<Program> BareDevice::build(const KernelSource& source) {
  std::shared_ptr<Program>& program = built_[{source.opencl + source.hls, source.options}];
  if (program == nullptr) program = real_.build(source);
  return std::make_unique<SharedProgram>(program);
}

std::vector<PartsOf> parse_parts(const std::string& text) {
  std::vector<PartsOf> parts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line, ';');)
    if (!trimmed(line).empty()) parts.push_back(parse_part(trimmed(line)));
  return parts;
}

Parts::Parts(Session& session, const RunSettings& settings, SynchronisedStart& start)
    : world_(session.world),
      device_(session.device),
      session_{session.world, device_, nullptr, session.memory, session.seed, {}},
      settings_(settings_of(settings)),
      begin_(now_seconds()) {
  session_.memory.shared = false;
  const Plan plan{world_.rank(), world_.size(), session.seed};
  for (const PartsOf& line : settings.parts) {
    bool own = true;  // a benchmark holds one prepared case: each part within a case needs another one
    for (const Group& group : line.benchmark->groups(plan))
      for (const Case& measured : group.cases) {
        if (own) {
          benchmarks_.push_back(line.within.empty() ? line.benchmark : parse_part(line.text).benchmark);
          runs_.push_back(std::make_unique<CaseRun>(*benchmarks_.back(), session_, settings_, start));
          own = !line.within.empty();
        }
        parts_.push_back({.of = runs_.size() - 1,
                          .measured = measured,
                          .shared = !measured.labels.contains(own_label),
                          .within = line.within,
                          .bytes = group.device_bytes});
      }
  }
}

bool Parts::is_within(const Part& part, const std::string& key) {
  return std::find(part.within.begin(), part.within.end(), key) != part.within.end();
}

bool Parts::belongs(const Part& part, const Case& measured) const {
  for (const char* name : {own_label, "ring"}) {
    const auto own = part.measured.labels.find(name), other = measured.labels.find(name);
    if (own != part.measured.labels.end() && (other == measured.labels.end() || *own != *other)) return false;
  }
  return true;
}

void Parts::enter(const Group& group) {
  if (group.device_bytes > group_bytes_) close_others(nullptr);
  group_bytes_ = group.device_bytes;
}

void Parts::visit(const Case* next, std::size_t finished) {
  close_others(next);
  if (next != nullptr && !warm_) warm_up(*next);
  std::vector<std::size_t> order(parts_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return parts_[a].visits.size() < parts_[b].visits.size(); });
  for (const std::size_t number : order) {
    Part& part = parts_[number];
    if (!part.within.empty() && !part.apart) continue;
    const bool stands_before = next != nullptr && belongs(part, *next), first = part.visits.empty();
    const bool due = part.pending || (stands_before && part.shared);
    const bool wanted = due && (first ? has_budget(part) || next == nullptr : is_affordable(part));
    part.pending = stands_before || (due && first && !wanted);
    if (!broadcast_value(world_, wanted && !part.dropped)) continue;
    visit_well(part, finished);
  }
}

void Parts::visit_well(Part& part, std::size_t finished) {
  measure(part, finished);
  for (std::size_t visits = 1; visits < most_visits_in_a_row; ++visits) {
    if (!broadcast_value(world_, !part.dropped && is_noisy(part) && is_affordable(part))) break;
    measure(part, finished);
  }
}

// Compared with parts of the same bare calls: a case that stands out may be slow, or have met a slow moment or memory.
bool Parts::stands_out(const Case& measured, const CaseRecord& record, std::size_t finished,
                       std::uint64_t measurements) {
  const auto part = std::find_if(parts_.begin(), parts_.end(),
                                 [&](const Part& one) { return !one.dropped && is_own(one, measured); });
  if (part == parts_.end()) return false;
  part->pending = false;
  if (!own_within_) visit_beside(*part, record, finished);
  const std::optional<double> ratio = ratio_to(*part, record);
  const bool again = measurements < most_measurements && ratio.value_or(0) > standing_out * usual_ratio();
  if (ratio && !again) ratios_.push_back(*ratio);
  return broadcast_value(world_, again);
}

// Samples as long as the case's: the first operations after a reset are slower than those that follow.
void Parts::visit_beside(Part& part, const CaseRecord& record, std::size_t finished) {
  part.measured.fixed_count = broadcast_value(world_, record.count);
  visit_well(part, finished);
  for (std::size_t visits = 1; visits < most_visits_in_a_row; ++visits) {
    const std::optional<double> ratio = ratio_to(part, record);
    const bool stands_out = ratio && *ratio * standing_out < usual_ratio() && has_budget(part);
    if (!broadcast_value(world_, stands_out)) break;
    measure(part, finished);
  }
}

// Of a case's level to its part's; rank 0, none if either has none.
std::optional<double> Parts::ratio_to(const Part& part, const CaseRecord& record) const {
  if (world_.rank() != 0 || record.outcome.status != "passed" || part.dropped || part.visits.empty())
    return std::nullopt;
  std::vector<double> seconds;
  for (const Visit& visit : part.visits) append_to(seconds, visit.seconds);
  return harmonic_mean(of_one_count(slowest_of_each(record.by_rank), record.count)) / harmonic_mean(seconds);
}

// Of the last cases, which have similar sizes, or of the very last, if a library changes its algorithm at a size; bare
// calls are never exceeded by much.
double Parts::usual_ratio() const {
  constexpr std::size_t near = 5, fewest = 3;
  if (ratios_.size() < fewest) return 1;
  std::vector<double> last(ratios_.end() - static_cast<std::ptrdiff_t>(std::min(near, ratios_.size())), ratios_.end());
  std::sort(last.begin(), last.end());
  return std::min(1.0, std::max(last[last.size() / 2], ratios_.back()));
}

bool Parts::has_budget(const Part& part) const {
  const double least = part.visits.empty() ? least_seconds : least_seconds_again;
  const double cost = part.visits.empty() ? 0 : part.visits.back().cost;
  return spent_ + cost < std::max(least, most_share * (now_seconds() - begin_));
}

// For another visit: none waits for its first one.
bool Parts::is_affordable(const Part& part) const {
  const auto waits = [](const Part& one) {
    return (one.within.empty() || one.apart) && (one.shared || one.pending) && one.visits.empty() && !one.dropped;
  };
  return has_budget(part) && std::none_of(parts_.begin(), parts_.end(), waits);
}

// Valid on rank 0.
bool Parts::is_noisy(const Part& part) const {
  if (part.visits.empty() || part.visits.back().seconds.empty()) return false;
  const std::vector<double>& seconds = part.visits.back().seconds;
  return summarise(seconds).median > noisy * lower_tenth(seconds);
}

// A process's first part is slow: libraries initialise, threads start.
void Parts::warm_up(const Case& next) {
  warm_ = true;
  const auto first = std::find_if(parts_.begin(), parts_.end(),
                                  [&](const Part& part) { return part.within.empty() && belongs(part, next); });
  if (first == parts_.end()) return;
  const double begin = now_seconds();
  CaseRecord record;
  runs_[first->of]->open(first->measured, record);
  runs_[first->of]->close(first->measured, record);
  spent_ += now_seconds() - begin;
}

void Parts::measure(Part& part, std::size_t finished) {
  const double begin = now_seconds();
  const CaseRecord record = runs_[part.of]->measure(part.measured);
  take_outcome(part, record);
  const double cost = now_seconds() - begin;
  if (!part.dropped) add_visit(part, record, {.at = begin - begin_, .finished = finished, .cost = cost});
  spent_ += cost;
}

void Parts::take_outcome(Part& part, const CaseRecord& record) {
  part.dropped = !broadcast_value(world_, record.outcome.status == "passed" || record.outcome.status == "skipped");
  if (!part.dropped) part.measured.fixed_count = broadcast_value(world_, record.count);  // found once, kept
  if (!part.validation.is_null() && !part.dropped) return;
  part.outcome = record.outcome;
  part.validation = record.validation;
}

void Parts::add_visit(Part& part, const CaseRecord& record, Visit visit) {
  visit.count = record.count;
  visit.seconds = of_one_count(slowest_of_each(record.by_rank), record.count);
  double all = 0;
  for (const auto& [name, value] : record.tallies) all += value;
  for (const auto& [name, value] : record.tallies)
    if (all > 0) visit.shares[name] = value / all;
  part.visits.push_back(std::move(visit));
}

bool Parts::are_within(const Case& measured) {
  around_ = &measured;
  begun_ = own_within_ = false;
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) { return is_to_be_within(part); });
}

bool Parts::is_to_be_within(const Part& part) const {
  return !part.apart && !part.dropped && (is_within(part, around_->key) || is_own(part, *around_));
}

void Parts::begin(std::uint64_t count) {
  const double begin = now_seconds();
  begun_ = true;
  for (Part& part : parts_) {
    if (!is_to_be_within(part)) continue;
    const auto ready = std::find_if(open_.begin(), open_.end(), [&](const Within& one) { return one.part == &part; });
    if (ready != open_.end()) continue;
    const double before = now_seconds();
    if (is_own(part, *around_)) part.measured.fixed_count = broadcast_value(world_, count);
    part.apart = !open(part);
    if (!part.apart) open_.back().cost = now_seconds() - before;
    own_within_ = own_within_ || (!part.apart && is_own(part, *around_));
  }
  for (Within& one : open_) one.begin = begin - begin_;
  taken_ = next_ = now_seconds();
  spent_ += taken_ - begin;
}

bool Parts::open(Part& part) {
  const auto ranks = static_cast<std::uint64_t>(world_.local_size());
  if (!broadcast_value(world_, part.bytes * ranks <= host_share().available_bytes / 2)) return false;
  open_.emplace_back().part = &part;
  CaseRecord& record = open_.back().record;
  if (broadcast_value(world_, runs_[part.of]->open(part.measured, record))) return true;
  runs_[part.of]->close(part.measured, record);
  open_.pop_back();
  return false;
}

bool Parts::is_due() const {
  return !open_.empty() && now_seconds() >= next_;
}

// As many repetitions of each as the time since the last ones allows, after long repetitions of the case.
void Parts::take(std::size_t kept) {
  if (open_.empty()) return;
  constexpr int most_in_a_row = 8;
  const double begin = now_seconds(), allowed = share_within * (begin - taken_);
  bool again = true;
  for (int round = 0; round < most_in_a_row && again; ++round) {
    for (Within& one : open_) sample(one, kept);
    const double cost = now_seconds() - begin;
    again = broadcast_value(world_, cost * (round + 2) < allowed * (round + 1));
  }
  taken_ = now_seconds();
  next_ = taken_ + std::max(seconds_apart, (taken_ - begin) * (1 / share_within - 1));
  spent_ += taken_ - begin;
}

void Parts::sample(Within& one, std::size_t kept) {
  if (one.record.outcome.status != "passed") return;
  const double begin = now_seconds();
  if (runs_[one.part->of]->sample(one.part->measured, one.record)) one.kept.push_back(kept);
  one.cost += now_seconds() - begin;
}

void Parts::end_within(std::size_t finished) {
  if (!begun_) return;  // the case failed before
  const double begin = now_seconds();
  for (Within& one : open_) {
    if (one.record.outcome.status != "passed") continue;
    runs_[one.part->of]->gather(one.part->measured, one.record);
    add_visit(*one.part, one.record,
              {.at = one.begin,
               .finished = finished,
               .kept = std::exchange(one.kept, {}),
               .within = is_own(*one.part, *around_) ? "" : around_->key,
               .cost = std::exchange(one.cost, 0)});
  }
  spent_ += now_seconds() - begin;
  close_unless([&](const Within& one) { return !is_own(*one.part, *around_); });
}

// Those that are not within `next`; null: all.
void Parts::close_others(const Case* next) {
  close_unless([&](const Within& one) { return next != nullptr && is_within(*one.part, next->key); });
}

template <class Stays>
void Parts::close_unless(Stays stays) {
  const double begin = now_seconds();
  const auto others = std::stable_partition(open_.begin(), open_.end(), stays);
  for (auto one = others; one != open_.end(); ++one) {
    const double before = now_seconds();
    runs_[one->part->of]->close(one->part->measured, one->record);
    take_outcome(*one->part, one->record);
    if (!one->part->visits.empty()) one->part->visits.back().cost += now_seconds() - before;
  }
  open_.erase(others, open_.end());
  spent_ += now_seconds() - begin;
}

Json Parts::json() const {
  Json list = Json::array();
  for (const Part& part : parts_) {
    Json visits = Json::array();
    for (const Visit& visit : part.visits) {
      visits.push_back({{"at_s", visit.at},
                        {"after_cases", visit.finished},
                        {"count", visit.count},
                        {"seconds", numbers(visit.seconds)},
                        {"after_repetitions", visit.kept},
                        {"cost_s", visit.cost},
                        {"within", visit.within.empty() ? Json(nullptr) : Json(visit.within)},
                        {"shares", visit.shares}});
    }
    const Benchmark& benchmark = *benchmarks_[part.of];
    list.push_back({{"benchmark", benchmark.name()},
                    {"parameters", parameters_of(benchmark)},
                    {"key", part.measured.key},
                    {"labels", part.measured.labels},
                    {"work", to_json(part.measured.work)},
                    {"validation", part.validation},
                    {"outcome",
                     {{"status", part.outcome.status},
                      {"reason", part.outcome.reason.empty() ? Json(nullptr) : Json(part.outcome.reason)}}},
                    {"visits", visits}});
  }
  return {{"spent_s", spent_}, {"run_s", now_seconds() - begin_}, {"cases", list}};
}

}  // namespace plumb
