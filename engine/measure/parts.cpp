#include "measure/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace plumb {

namespace {

constexpr std::uint64_t fewest_repetitions = 7;
constexpr double shortest_limit = 0.004, longest_limit = 0.1;  // seconds of one visit's repetitions
constexpr double limit_share = 0.04;                           // of a case's time limit
constexpr double sample_seconds = 0.7e-3, longest_sample_seconds = 3e-3;

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

std::shared_ptr<Benchmark> parse_part(const std::string& text) {
  std::istringstream words(text);
  std::string word;
  words >> word;
  const auto& registry = Registry<BenchmarkFactory>::instance();
  const BenchmarkFactory* factory = registry.find(word);
  if (factory == nullptr) throw UsageError("--parts: " + unknown_name("benchmark", word, registry.names()));
  std::shared_ptr<Benchmark> benchmark = (*factory)();
  if (benchmark->needs_transport())
    throw UsageError("--parts: " + word + " uses a transport, which is judged by parts");
  while (words >> word) {
    const std::size_t equals = word.find('=');
    ParameterBase* option = benchmark->find(word.substr(0, equals));
    if (equals == std::string::npos || option == nullptr)
      throw UsageError(
          fmt::format("--parts: {} must be an option of {} and its value, as size=24", word, benchmark->name()));
    option->parse(word.substr(equals + 1));
  }
  return benchmark;
}

RunSettings settings_of(RunSettings settings) {
  settings.policy.fixed = 0;
  settings.policy.minimum = fewest_repetitions;
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

}  // namespace

std::vector<std::shared_ptr<Benchmark>> parse_parts(const std::string& text) {
  std::vector<std::shared_ptr<Benchmark>> parts;
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
      benchmarks_(settings.parts),
      begin_(now_seconds()) {
  session_.memory.shared = false;
  const Plan plan{world_.rank(), world_.size(), session.seed};
  for (const auto& benchmark : settings.parts) {
    for (const Group& group : benchmark->groups(plan))
      for (const Case& measured : group.cases) parts_.push_back({runs_.size(), measured});
    runs_.push_back(std::make_unique<CaseRun>(*benchmark, session_, settings_, start));
  }
}

// Starts from the previous message size's count, seldom much smaller; 0: the engine determines it.
std::uint64_t Parts::guessed_count(const Part& part) {
  std::uint64_t count = 0;
  if (&part != parts_.data()) {
    const Part& before = *(&part - 1);
    const auto size = part.measured.labels.find("message_bytes");
    if (before.of == part.of && size != part.measured.labels.end() && !before.visits.empty() && !before.dropped) {
      const double one = before.visits.front().seconds.empty() ? 0 : summarise(before.visits.front().seconds).median;
      if (one > 0) count = std::max<std::uint64_t>(6, static_cast<std::uint64_t>(sample_seconds / one));
    }
  }
  if (part.measured.most_operations > 0) count = std::min(count, part.measured.most_operations);
  return broadcast_value(world_, count);
}

bool Parts::belongs(const Part& part, const Case& measured) const {
  for (const char* name : {"message_bytes", "ring"}) {
    const auto own = part.measured.labels.find(name), other = measured.labels.find(name);
    if (own != part.measured.labels.end() && (other == measured.labels.end() || *own != *other)) return false;
  }
  return true;
}

void Parts::visit(const Case* next, std::size_t finished) {
  if (next != nullptr && !warm_) warm_up(*next);
  for (Part& part : parts_) {
    const bool stands_before = next != nullptr && belongs(part, *next);
    bool wanted = false;
    if (stands_before && part.visits.empty()) wanted = true;  // before the first of its cases
    // Between them, and after the last in a row; a part not followed by another is always visited.
    const double run = now_seconds() - begin_;
    if (part.pending && (spent_ + part.cost < most_share * run || next == nullptr)) wanted = true;
    wanted = broadcast_value(world_, wanted && !part.dropped);
    part.pending = stands_before;
    if (wanted) measure(part, finished);
  }
}

// A process's first part is slow: libraries initialise, threads start.
void Parts::warm_up(const Case& next) {
  warm_ = true;
  const auto first = std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) { return belongs(part, next); });
  if (first == parts_.end()) return;
  measure(*first, 0);
  first->visits.clear();
}

void Parts::measure(Part& part, std::size_t finished) {
  const double begin = now_seconds();
  if (part.measured.fixed_count == 0) part.measured.fixed_count = guessed_count(part);
  CaseRecord record = runs_[part.of]->measure(part.measured);
  part.dropped = !broadcast_value(world_, record.outcome.status == "passed" || record.outcome.status == "skipped");
  if (!part.dropped) part.measured.fixed_count = broadcast_value(world_, record.count);  // found once, kept
  if (part.visits.empty() || part.dropped) part.outcome = record.outcome;
  if (part.visits.empty() || part.dropped) part.validation = record.validation;
  Visit visit{begin - begin_, finished, record.count, of_one_count(slowest_of_each(record.by_rank), record.count), {}};
  double all = 0;
  for (const auto& [name, value] : record.tallies) all += value;
  for (const auto& [name, value] : record.tallies)
    if (all > 0) visit.shares[name] = value / all;
  if (!part.dropped) part.visits.push_back(std::move(visit));
  part.cost = now_seconds() - begin;
  spent_ += part.cost;
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
