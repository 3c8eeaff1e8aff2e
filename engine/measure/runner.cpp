#include "measure/runner.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>

#include "core/units.hpp"
#include "measure/case_run.hpp"
#include "measure/parts.hpp"
#include "measure/ports.hpp"
#include "record/beside.hpp"
#include "record/emulated.hpp"
#include "record/writer.hpp"
#include "world/collect.hpp"

namespace plumb {

Json to_json(const Metric& metric) {
  Json result{{"name", metric.name},
              {"value", finite_or_null(metric.value)},
              {"unit", metric.unit},
              {"convention", metric.convention},
              {"reason", std::isfinite(metric.value) || !metric.reason.empty()
                             ? (metric.reason.empty() ? Json(nullptr) : Json(metric.reason))
                             : Json("not a finite number")},
              {"table", metric.table}};
  if (!metric.group.empty()) result["group"] = metric.group;
  return result;
}

Json to_json(const Work& work) {
  Json result = Json::object();
  const auto add = [&](const char* name, auto value) {
    if (value > 0) result[name] = value;
  };
  add("bytes_read", work.bytes_read);
  add("bytes_written", work.bytes_written);
  add("bytes_sent", work.bytes_sent);
  add("messages", work.messages);
  add("flops", work.flops);
  add("updates", work.updates);
  add("edges", work.edges);
  return result;
}

namespace {

Json to_json(const Outcome& outcome) {
  return {{"status", outcome.status}, {"reason", outcome.reason.empty() ? Json(nullptr) : Json(outcome.reason)}};
}

Json to_json(const std::vector<Warning>& warnings) {
  Json result = Json::array();
  for (const Warning& warning : warnings) result.push_back({{"code", warning.code}, {"text", warning.text}});
  return result;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json summary_json(const Summary& summary, const std::vector<std::vector<double>>& by_rank) {
  if (summary.samples == 0) return nullptr;
  std::size_t slowest = 0;
  double longest = -1;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    const double median = summarise(by_rank[rank]).median;
    if (median > longest) {
      longest = median;
      slowest = rank;
    }
  }
  Json interval = nullptr;
  if (summary.median_interval) interval = {summary.median_interval->first, summary.median_interval->second};
  return {{"of", "slowest rank of each repetition"},
          {"min_s", summary.min},
          {"max_s", summary.max},
          {"median_s", summary.median},
          {"mean_s", summary.mean},
          {"p95_s", or_null(summary.p95)},
          {"p99_s", or_null(summary.p99)},
          {"ci95_median_s", interval},
          {"best_repetition", summary.best},
          {"slowest_rank", slowest}};
}

Json metrics_json(const std::vector<Metric>& metrics) {
  Json list = Json::array();
  for (const Metric& metric : metrics) list.push_back(to_json(metric));
  return list;
}

// Writes NaN (an absent phase) as null.
Json times_json(const std::vector<std::vector<double>>& by_rank) {
  Json result = Json::array();
  for (const std::vector<double>& values : by_rank) {
    Json row = Json::array();
    for (const double value : values) row.push_back(finite_or_null(value));
    result.push_back(std::move(row));
  }
  return result;
}

// Pairs of numbers.
Json lives_json(const std::vector<std::vector<double>>& by_rank) {
  Json result = Json::array();
  for (const std::vector<double>& ends : by_rank) {
    Json row = Json::array();
    for (std::size_t i = 0; i + 1 < ends.size(); i += 2) row.push_back({ends[i], ends[i + 1]});
    result.push_back(std::move(row));
  }
  return result;
}

Json phases_json(const CaseRecord& record) {
  Json result = Json::object();
  for (const auto& [name, phase] : record.phases)
    result[name] = {{"unit", "s"},
                    {"by_rank", times_json(phase.seconds)},
                    {"begin_by_rank", times_json(phase.begin)},
                    {"end_by_rank", times_json(phase.end)},
                    {"last_spans_by_rank", lives_json(phase.last)}};
  return result;
}

// Of one rank's operations, or all ranks'; percentiles only with enough samples (Summary).
Json laps_json(const std::vector<double>& seconds) {
  const Summary summary = summarise(seconds);
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const auto from = [&](std::size_t least, double p) {
    return sorted.size() >= least ? Json(quantile(sorted, p)) : Json(nullptr);
  };
  return {{"operations", summary.samples}, {"min_s", summary.min},        {"mean_s", summary.mean},
          {"median_s", summary.median},    {"p90_s", from(10, 0.9)},      {"p95_s", or_null(summary.p95)},
          {"p99_s", or_null(summary.p99)}, {"p999_s", from(1000, 0.999)}, {"max_s", summary.max}};
}

std::vector<double> together(const std::vector<std::vector<double>>& by_rank) {
  std::vector<double> all;
  for (const auto& values : by_rank) all.insert(all.end(), values.begin(), values.end());
  return all;
}

// Over the ranks that have some.
std::vector<std::vector<double>> with_laps(const CaseRecord& record) {
  std::vector<std::vector<double>> by_rank = record.laps_by_rank;
  std::erase_if(by_rank, [](const auto& laps) { return laps.empty(); });
  return by_rank;
}

Json laps_json(const CaseRecord& record) {
  const std::vector<double> all = together(record.laps_by_rank);
  if (all.empty()) return nullptr;
  Json by_rank = Json::array();
  for (const auto& laps : record.laps_by_rank) by_rank.push_back(laps.empty() ? Json(nullptr) : laps_json(laps));
  Json laps{{"of", "each operation"}, {"by_rank", by_rank}, {"all", laps_json(all)}};
  if (const std::vector<double> slowest = slowest_of_each(with_laps(record)); !slowest.empty())
    laps["slowest"] = laps_json(slowest);
  return laps;
}

// Null without measurements.
Json stop_json(const Stop& stop) {
  if (stop.reason.empty()) return nullptr;
  return {{"reason", stop.reason}, {"half_width", or_null(stop.half_width)}};
}

std::string policy_name(const RunSettings& settings, const Case& measured) {
  if (measured.policy.kind == CasePolicy::Kind::once) return "once";
  return settings.policy.fixed > 0 || measured.policy.kind == CasePolicy::Kind::fixed ? "fixed" : "adaptive";
}

bool all_alike(const std::vector<Json>& values) {
  return std::all_of(values.begin(), values.end(), [&](const Json& value) { return value == values.front(); });
}

// Optional members of a case.
void add_parts(Json& one, const CaseRecord& record) {
  if (!record.paused_by_rank.empty()) one["paused"] = {{"unit", "s"}, {"by_rank", record.paused_by_rank}};
  if (Json laps = laps_json(record); !laps.is_null()) one["laps"] = std::move(laps);
  if (!record.energy.is_null()) one["energy"] = record.energy;
  if (!record.tallies_by_rank.empty()) one["tallies_by_rank"] = record.tallies_by_rank;
  std::vector<Json> work;
  for (const Work& of_rank : record.work_by_rank) work.push_back(to_json(of_rank));
  if (!all_alike(work)) one["work_by_rank"] = work;
}

Json case_json(const Group& group, const Case& measured, const CaseRecord& record, const RunSettings& settings,
               const Summary& summary, const std::vector<Metric>& metrics) {
  Json device_samples = nullptr;
  if (!record.device_by_rank.empty()) device_samples = {{"unit", "s"}, {"by_rank", record.device_by_rank}};
  Json one{{"key", measured.key},
           {"group", group.key},
           {"labels", measured.labels},
           {"work", to_json(measured.work)},
           {"facts", record.facts},
           {"count", record.count},
           {"policy", policy_name(settings, measured)},
           {"stop", stop_json(record.stop)},
           {"repetitions", record.global.size()},
           {"late_starts", record.late_starts},
           {"samples", {{"unit", "s"}, {"by_rank", record.by_rank}, {"global", record.global}}},
           {"device_samples", device_samples},
           {"phases", phases_json(record)},
           {"tallies", record.tallies},
           {"summary", summary_json(summary, record.by_rank)},
           {"metrics", metrics_json(metrics)},
           {"validation", record.validation},
           {"outcome", to_json(record.outcome)},
           {"warnings", to_json(record.warnings)}};
  add_parts(one, record);
  return one;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// The run's outcome is the worst of its cases'.
int severity(const std::string& status) {
  static const std::vector<std::string> order{"passed", "unsupported", "skipped", "error", "failed"};
  return static_cast<int>(std::find(order.begin(), order.end(), status) - order.begin());
}

// NaN without validation.
double median_told(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : summarise(values).median;
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

// Collects the results of all cases and writes the record; exists on every rank, prints on rank 0.
class Run {
 public:
  Run(Benchmark& benchmark, const std::vector<Group>& groups, Session& session, const RunSettings& settings,
      const Places& places, Json head, const std::string& path, Listener& listener, EnergyMeter* energy)
      : benchmark_(benchmark),
        groups_(groups),
        session_(session),
        settings_(settings),
        places_(places),
        listener_(listener),
        speaks_(session.world.rank() == 0),
        emulated_(head.contains("emulated") && head["emulated"].is_string()),
        writer_(path, std::move(head)),
        files_(path),
        start_(session.world, settings.synchronise_by_clock, crowded()),
        energy_(energy),
        case_run_(benchmark, session, settings, start_, energy),
        parts_(session, settings, start_),
        load_(speaks_ ? host_load() : HostLoad{}),
        ports_(reads_ports() ? network_ports() : Ports{}) {
    for (const Group& group : groups) total_ += group.cases.size();
    session_.files = speaks_ && !path.empty() ? &files_ : nullptr;
  }
  ~Run() { session_.files = nullptr; }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  RunResult all() {
    if (speaks_) {
      listener_.started(benchmark_.name(), total_, session_.world.size(), writer_.path());
      for (const Warning& warning : doubts(places_)) warn(warning);
      if (!writer_.problem().empty()) warn({"record", writer_.problem()});
    }
    for (const Group& group : groups_) run_group(group);
    parts_.visit(nullptr, index_);
    return finish();
  }

 private:
  // Waiting ranks yield if there are more ranks than cores. Rank 0 decides for all.
  bool crowded() {
    bool crowded = false;
    for (const Warning& warning : doubts(places_)) crowded = crowded || warning.code == "oversubscribed";
    return broadcast_value(session_.world, crowded);
  }

  bool energy_of_cases() const { return energy_ != nullptr && energy_->measures_cases(); }
  int workers() const { return settings_.active_ranks > 0 ? settings_.active_ranks : session_.world.size(); }

  void warn(const Warning& warning) {
    listener_.warned(warning);
    warnings_.push_back(warning);
  }

  void run_group(const Group& group) {
    parts_.enter(group);
    Timed timed({1, group.phases});
    const auto hindered = hindrance(session_.world, [&] { benchmark_.prepare_group(session_, group, timed); });
    add_set_up(group, timed);
    for (const Case& measured : group.cases) {
      parts_.visit(&measured, index_);
      ++index_;
      if (speaks_) listener_.case_started(index_, total_, measured.key);
      CaseRecord record;
      if (hindered)
        record.outcome = *hindered;
      else
        record = measured_well(measured);
      record.outcome.reason = with_log_once(measured.key, record.outcome.reason);
      if (speaks_) add(group, measured, record);
    }
    benchmark_.release_group();
  }

  // Measures a case, and repeats it with its parts if it takes longer than these and its neighbours suggest.
  CaseRecord measured_well(const Case& measured) {
    CaseRecord record = measured_once(measured, false);
    Case same = measured;
    same.fixed_count = broadcast_value(session_.world, record.count);
    std::uint64_t measurements = 1;
    while (parts_.stands_out(measured, record, index_, measurements)) {
      add_measurement(record, measured_once(same, true));
      record.facts["measurements"] = ++measurements;
    }
    return record;
  }

  CaseRecord measured_once(const Case& measured, bool again) {
    const bool within = parts_.are_within(measured) && !settings_.setup_only && !energy_of_cases();
    CaseRecord record = case_run_.measure(measured, again, within ? &parts_ : nullptr);
    if (within) parts_.end_within(index_);
    return record;
  }

  // Collective; complete on rank 0.
  Json energy_json() {
    Json sources = Json::array();
    const std::vector<Json> by_rank = energy_->sources();
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
      if (!by_rank[rank].is_array()) continue;
      for (const Json& one : by_rank[rank]) {
        Json source{{"host", places_.ranks[rank].host}};
        source.update(one);
        sources.push_back(std::move(source));
      }
    }
    const std::string& reason = energy_->reason();
    return {{"wanted", energy_->wish().sensors},
            {"seconds", energy_->wish().seconds},
            {"reason", reason.empty() ? Json(nullptr) : Json(reason)},
            {"sources", sources}};
  }

  // Ranks on several hosts: one of each host reads its ports.
  bool reads_ports() const {
    return session_.world.size() > session_.world.local_size() && session_.world.local_rank() == 0;
  }

  // Collective; complete on rank 0.
  Json ports_json() {
    const Json own = reads_ports() ? to_json(ports_, network_ports()) : Json::array();
    Json ports = Json::array();
    const std::vector<std::string> by_rank = gather_texts(session_.world, own.dump());
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank)
      for (const Json& one : Json::parse(by_rank[rank])) {
        Json port{{"host", places_.ranks[rank].host}};
        port.update(one);
        ports.push_back(std::move(port));
      }
    return ports;
  }

  // Phases of a group's set-up, on every rank; collective.
  void add_set_up(const Group& group, const Timed& timed) {
    for (std::size_t number = 0; number < group.phases.size(); ++number) {
      const std::vector<Span> spans = timed.spans(number);
      double seconds = spans.empty() ? std::numeric_limits<double>::quiet_NaN() : 0;
      for (const Span& span : spans) seconds += span.end - span.begin;
      Json by_rank = Json::array();
      for (const double value : gather_values(session_.world, seconds)) by_rank.push_back(finite_or_null(value));
      if (speaks_)
        set_ups_.push_back(
            {{"group", group.key}, {"phase", group.phases[number]}, {"unit", "s"}, {"by_rank", by_rank}});
    }
  }

  // Logs in reasons are kept once: later cases with the same message refer to the first.
  std::string with_log_once(const std::string& key, const std::string& reason) {
    const std::string sentence = first_line(reason);
    if (sentence == reason) return reason;
    const auto [first, is_new] = logged_.emplace(sentence, key);
    return is_new ? reason : fmt::format("{} (case {} has the log)", sentence, first->second);
  }

  void add(const Group& group, const Case& measured, const CaseRecord& record) {
    CaseResult result{&measured, record.count, summarise(slowest_of_each(record.by_rank)),
                      record.outcome.status == "passed" || record.outcome.status == "skipped", record.tallies};
    result.tallies_by_rank = record.tallies_by_rank;
    result.work_by_rank = record.work_by_rank;
    for (const auto& [name, phase] : record.phases)
      for (const auto& seconds : phase.seconds) result.phases_by_rank[name].push_back(median_told(seconds));
    if (!record.laps_by_rank.empty()) result.laps = summarise(together(record.laps_by_rank));
    result.laps_by_rank = record.laps_by_rank;
    for (const auto& seconds : record.by_rank)
      if (!seconds.empty())
        result.rank_best_seconds.push_back(*std::min_element(seconds.begin(), seconds.end()) /
                                           static_cast<double>(record.count));
    const bool has_metrics = result.passed && result.summary.samples > 0;
    const auto metrics = has_metrics ? benchmark_.metrics(result, workers()) : std::vector<Metric>{};
    Json finished = case_json(group, measured, record, settings_, result.summary, metrics);
    if (emulated_) mark_emulated(finished);
    writer_.add_case(finished);
    results_.push_back(std::move(result));
    if (severity(record.outcome.status) > severity(outcome_.status)) {
      outcome_ = record.outcome;
      if (!outcome_.reason.empty()) outcome_.reason = measured.key + ": " + first_line(outcome_.reason);
    }
    note_stability(measured, record);
    listener_.case_finished(index_, total_, measured.key, record.outcome.status, record.outcome.reason,
                            record.global.size());
  }

  void note_stability(const Case& measured, const CaseRecord& record) {
    for (const Warning& warning : record.warnings) {
      if (warning.code == "unstable") {
        ++unstable_;
        const double width = record.stop.half_width.value_or(std::numeric_limits<double>::infinity());
        if (width > widest_) {
          widest_ = width;
          widest_key_ = measured.key;
        }
      } else {
        warn({warning.code, measured.key + ": " + warning.text});
      }
    }
  }

  RunResult finish() {
    const CommonClock& clock = start_.clock();
    const std::vector<double> residuals = start_.clock().residuals();
    const std::vector<double> offsets = gather_values(session_.world, clock.offset());
    const std::vector<double> drifts = gather_values(session_.world, clock.drift());
    const Json energy = energy_ == nullptr ? Json(nullptr) : energy_json();
    const Json ports = ports_json();
    RunResult result;
    if (!speaks_) return result;
    if (unstable_ > 0)
      warn({"unstable",
            fmt::format("{} of {} cases reached a limit before their interval was within ±{:.1f} %; the widest "
                        "is {} (±{:.1f} %)",
                        unstable_, total_, settings_.policy.confidence * 100, widest_key_, widest_ * 100)});
    std::uint64_t late = 0;
    for (const Json& one : writer_.document()["cases"]) late += one["late_starts"].get<std::uint64_t>();
    Json tail{{"clock_sync",
               {{"reference_rank", 0},
                {"offset_s", offsets},
                {"drift", drifts},
                {"residual_s", residuals},
                {"late_starts", late},
                {"starts", start_.starts()}}},
              {"metrics", metrics_json(benchmark_.aggregate(results_, workers()))},
              {"set_ups", set_ups_},
              {"load", to_json(load_, host_load())},
              {"parts", parts_.none() ? Json(nullptr) : parts_.json()},
              {"energy", energy},
              {"ports", ports},
              {"warnings", to_json(warnings_)},
              {"status", "complete"},
              {"reason", nullptr},
              {"finished", utc_now()},
              {"outcome", to_json(outcome_)}};
    if (emulated_) mark_emulated(tail);
    writer_.finish(tail);
    result.outcome = outcome_;
    result.record_lost = !writer_.problem().empty();
    if (result.record_lost) listener_.failed(writer_.problem());
    result.record = writer_.document();
    return result;
  }

  Benchmark& benchmark_;
  const std::vector<Group>& groups_;
  Session& session_;
  const RunSettings& settings_;
  const Places& places_;
  Listener& listener_;
  bool speaks_;
  std::map<std::string, std::string> logged_;  // first case of each message with a log
  bool emulated_;                              // the record says what stands in for hardware
  RecordWriter writer_;
  FilesBeside files_;
  SynchronisedStart start_;
  EnergyMeter* energy_;  // null: not wished
  CaseRun case_run_;
  Parts parts_;
  HostLoad load_;  // at the start of the run
  Ports ports_;    // likewise
  std::size_t total_ = 0, index_ = 0;
  std::vector<CaseResult> results_;
  Json set_ups_ = Json::array();
  std::vector<Warning> warnings_;
  Outcome outcome_;
  std::size_t unstable_ = 0;
  double widest_ = 0;
  std::string widest_key_;
};

}  // namespace

RunResult run_benchmark(Benchmark& benchmark, const std::vector<Group>& groups, Session& session,
                        const RunSettings& settings, const Places& places, Json head, const std::string& record_path,
                        Listener& listener, EnergyMeter* energy) {
  return Run(benchmark, groups, session, settings, places, std::move(head), record_path, listener, energy).all();
}

}  // namespace plumb
