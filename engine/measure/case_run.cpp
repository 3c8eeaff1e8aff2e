#include "measure/case_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/units.hpp"
#include "device/build_time.hpp"
#include "measure/implausible.hpp"
#include "record/beside.hpp"
#include "transport/emulated.hpp"
#include "world/watchdog.hpp"

namespace plumb {

namespace {

constexpr int most_late_in_a_row = 5;  // then a late sample is kept: with shared cores every start is late
constexpr std::uint64_t longest_loop = 1u << 24;
constexpr int most_probes = 3;            // of one loop length
constexpr double fewest_operations = 20;  // operations per sample, within longest_sample
constexpr double longest_probing = 0.1;   // seconds
constexpr double far_too_long = 2;        // times the longest sample
constexpr std::size_t most_lives = 4096;  // per phase, reported of the last repetition
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::vector<double>> gather_vectors(World& world, const std::vector<double>& mine) {
  std::vector<std::vector<double>> by_rank;
  for (const auto& part : world.gather(std::as_bytes(std::span(mine)), 0)) {
    std::vector<double> values(part.size() / sizeof(double));
    if (!values.empty()) std::memcpy(values.data(), part.data(), part.size());
    by_rank.push_back(std::move(values));
  }
  return by_rank;
}

bool is_within(double error, double tolerance) {
  return error >= 0 && error <= tolerance;
}

// The more informative of two errors: none, then not finite, then the larger one.
double worse_error(double one, double other) {
  if (std::isnan(one) || std::isnan(other)) return nan;
  return one < 0 || other < 0 ? std::min(one, other) : std::max(one, other);
}

double number_or_nan(const Json& value) {
  return value.is_null() ? nan : value.get<double>();
}

void append(std::vector<double>& to, const std::vector<double>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// By rank; if only one of both has a rank, the other's `had` or `has` repetitions count 0.
void append(std::vector<std::vector<double>>& to, const std::vector<std::vector<double>>& more, std::size_t had,
            std::size_t has) {
  if (to.empty() && more.empty()) return;
  if (to.empty()) to.resize(more.size(), std::vector<double>(had, 0.0));
  for (std::size_t rank = 0; rank < to.size(); ++rank)
    append(to[rank], more.empty() ? std::vector<double>(has, 0.0) : more.at(rank));
}

}  // namespace

std::optional<Outcome> hindrance(World& world, const std::function<void()>& action) {
  std::string problem, unsupported;
  try {
    action();
  } catch (const Unsupported& reason) {
    unsupported = reason.what();
  } catch (const Error& error) {
    problem = error.what();
  }
  const auto reason_of = [&](const AgreedText& agreed) {
    return world.size() == 1 ? agreed.text : fmt::format("rank {}: {}", agreed.rank, agreed.text);
  };
  const AgreedText failed = first_text(world, problem), impossible = first_text(world, unsupported);
  if (failed.rank >= 0) return Outcome{"error", reason_of(failed)};
  if (impossible.rank >= 0) return Outcome{"unsupported", reason_of(impossible)};
  return std::nullopt;
}

TimedPlan plan_of(const Case& measured, std::uint64_t count) {
  return {count, measured.phases, measured.laps, measured.threads};
}

bool CaseRun::is_once(const Case& measured) const {
  return measured.policy.kind == CasePolicy::Kind::once;
}

Policy CaseRun::policy_of(const Case& measured) const {
  Policy policy = settings_.policy;
  if (policy.fixed == 0 && measured.policy.kind == CasePolicy::Kind::fixed) policy.fixed = measured.policy.repetitions;
  return policy;
}

void add_measurement(CaseRecord& record, CaseRecord more) {
  if (more.outcome.status != "passed" && more.outcome.status != "skipped") {  // as bad as the worst
    record.outcome = std::move(more.outcome);
    record.validation = std::move(more.validation);
    return;
  }
  const std::size_t had = record.global.size(), has = more.global.size();
  append(record.by_rank, more.by_rank, 0, 0);
  append(record.global, more.global);
  append(record.device_by_rank, more.device_by_rank, had, has);
  append(record.paused_by_rank, more.paused_by_rank, had, has);
  append(record.laps_by_rank, more.laps_by_rank, 0, 0);
  for (auto& [name, phase] : record.phases) {
    const CaseRecord::Phase& other = more.phases[name];
    append(phase.seconds, other.seconds, had, has);
    append(phase.begin, other.begin, had, has);
    append(phase.end, other.end, had, has);
  }
  for (auto& [name, by_rank] : record.tallies_by_rank)
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) by_rank[rank] += more.tallies_by_rank[name].at(rank);
  for (auto& [name, value] : record.tallies) value += more.tallies[name];
  record.stop = more.stop;
  record.waited_share = std::max(record.waited_share, more.waited_share);
  if (record.waited_share > 0) record.facts["waited_share"] = record.waited_share;
  record.late_starts += more.late_starts;
  for (Warning& warning : more.warnings)
    if (std::none_of(record.warnings.begin(), record.warnings.end(),
                     [&](const Warning& one) { return one.code == warning.code; }))
      record.warnings.push_back(std::move(warning));
}

void CaseRun::forget() {
  forget_samples();
  findings_ = {};
}

void CaseRun::forget_samples() {
  seconds_.clear();
  device_seconds_.clear();
  paused_seconds_.clear();
  laps_.clear();
  phases_.clear();
  tallies_.clear();
}

bool Surprises::take(const std::vector<double>& seconds) {
  constexpr double least = 0.1;  // by this share
  fastest_.resize(seconds.size(), std::numeric_limits<double>::infinity());
  const bool found = !std::equal(seconds.begin(), seconds.end(), fastest_.begin(),
                                 [](double now, double fastest) { return now >= (1 - least) * fastest; });
  for (std::size_t rank = 0; found && rank < seconds.size(); ++rank)
    fastest_[rank] = std::min(fastest_[rank], seconds[rank]);
  return found;
}

bool CaseRun::open(const Case& measured, CaseRecord& record) {
  repetition_ = 0;
  forget();
  surprises_ = {};
  return prepare(measured, record) && warm_up(measured, record);
}

bool CaseRun::sample(const Case& measured, CaseRecord& record) {
  Timed timed(plan_of(measured, record.count));
  if (!repeat(measured, record, timed, false)) return false;
  keep(timed, sample_.begin);
  const std::vector<double> seconds = gather_values(session_.world, sample_.seconds);
  if (broadcast_value(session_.world, settings_.validate && session_.world.rank() == 0 && surprises_.take(seconds)))
    validate_between(measured, record.count);
  return true;
}

// The next reset may send to a rank that still looks at what has come: none begins before all have looked.
void CaseRun::validate_between(const Case& measured, std::uint64_t count) {
  validate(measured, count);
  session_.world.barrier();
}

void CaseRun::gather(const Case& measured, CaseRecord& record) {
  gather_samples(record);
  record.tallies_by_rank.clear();
  record.tallies.clear();
  gather_parts(record, measured);
  forget_samples();
}

void CaseRun::close(const Case& measured, CaseRecord& record) {
  if (broadcast_value(session_.world, record.outcome.status == "passed")) {
    if (settings_.validate) validate(measured, record.count);
    gather_findings(measured, record);
  }
  benchmark_.release();
}

CaseRecord CaseRun::measure(const Case& measured, bool again, Between* between) {
  CaseRecord record;
  if (!again) repetition_ = 0;
  forget();
  EmulatedTransport* const emulated = emulated_transport(session_.transport);
  if (emulated != nullptr) emulated->counted();
  const double built = TimedBuild::seconds();
  const TimedBuild::Counts counts = TimedBuild::counts();
  if (prepare(measured, record)) {
    if (settings_.setup_only) {
      record.outcome = {"skipped", "set up only (--test)"};
    } else if (warm_up(measured, record) && measure_watched(measured, record, between)) {
      gather_samples(record);
      if (measures_energy() && !again) measure_energy(measured, record);
      gather_parts(record, measured);
      gather_findings(measured, record);
      if (session_.world.rank() == 0) judge_stability(record);
    }
    record.facts = benchmark_.facts();
    if (TimedBuild::seconds() > built) record.facts["kernel_build_s"] = TimedBuild::seconds() - built;
    const int cached = TimedBuild::counts().cached - counts.cached;
    const int compiled = TimedBuild::counts().compiled - counts.compiled;
    if (cached + compiled > 0) record.facts["kernel_cached"] = compiled == 0;
    if (session_.memory.as_object) record.facts["sycl_memory"] = "buffer";
    if (session_.device.info().runtime == "sycl")
      record.facts["kernel_language"] = session_.kernels_by_sycl ? "sycl" : "opencl";
    if (session_.files != nullptr) add_files(record);
    if (emulated != nullptr) {
      Json counts = emulated->counted();
      if (!counts.is_null()) record.facts["transport"] = std::move(counts);
    }
    if (record.waited_share > 0) record.facts["waited_share"] = record.waited_share;
  }
  benchmark_.release();
  return record;
}

void CaseRun::add_files(CaseRecord& record) {
  if (Json files = session_.files->take(); !files.empty()) record.facts["files"] = std::move(files);
  if (std::string problem = session_.files->take_problem(); !problem.empty())
    record.warnings.push_back({"file", std::move(problem)});
}

bool CaseRun::prepare(const Case& measured, CaseRecord& record) {
  const auto hindered = hindrance(session_.world, [&] { benchmark_.prepare(session_, measured); });
  if (hindered) record.outcome = *hindered;
  return !hindered;
}

bool CaseRun::repeat(const Case& measured, CaseRecord& record, Timed& timed, bool validated) {
  ++repetition_;
  std::string problem;
  try {
    if (!idles()) benchmark_.reset(session_, measured, repetition_, timed.count());
  } catch (const Error& error) {
    problem = error.what();
  }
  if (metered_) energy_->begin();
  const std::string failed = start_.start(problem);
  if (!failed.empty()) {
    record.outcome = {"error", failed};
    if (metered_) energy_->end();
    return false;
  }
  // For kernels and copies without a Waiting of their own.
  const Waiting waiting("a repetition to end", measured.policy.longest_seconds);
  work(measured, timed);
  if (metered_) energy_->end();
  if (EmulatedTransport* const emulated = emulated_transport(session_.transport))
    if (const std::string lost = emulated->problem(); !lost.empty()) {
      record.outcome = {"error", lost};
      return false;
    }
  if (validated) validate(measured, timed.count());
  return true;
}

// This rank's sample; idle ranks have one without a length.
void CaseRun::work(const Case& measured, Timed& timed) {
  const double begin = now_seconds();
  if (!idles()) benchmark_.run(session_, measured, timed);
  const double end = idles() ? begin : now_seconds();
  const CommonClock& clock = start_.clock();
  sample_.begin = clock.to_common(begin);
  sample_.end = clock.to_common(end);
  sample_.local_begin = begin;
  sample_.seconds = timed.instead().value_or(end - begin - timed.paused_seconds());
  sample_.device_seconds = timed.device_seconds();
  sample_.paused_seconds = timed.paused_seconds();
  sample_.late = static_cast<char>(start_.late() ? 1 : 0);
}

void CaseRun::validate(const Case& measured, std::uint64_t count) {
  if (idles()) {
    ++findings_.repetitions;
    return;
  }
  Validation found;
  try {
    found = benchmark_.validate(session_, measured, repetition_, count);
  } catch (const Implausible& error) {
    findings_.implausible = error.what();
    found.error = nan;
  } catch (const Error& error) {
    found.error = nan;
    found.detail = error.what();
  }
  const std::uint64_t expected = measured.items_of(count);
  const bool wrong = !is_within(found.error, found.tolerance) || found.items_checked != expected ||
                     found.wrong_items > found.allowed_wrong_items;
  if (wrong && found.detail.empty())
    found.detail = fmt::format(
        "{} items were checked, should be {}; {} are wrong, at most {} may be; error {} with tolerance {}",
        found.items_checked, expected, found.wrong_items, found.allowed_wrong_items, found.error, found.tolerance);
  if (wrong && findings_.detail.empty()) findings_.detail = fmt::format("repetition {}: {}", repetition_, found.detail);
  const bool first = findings_.repetitions++ == 0;
  findings_.error = first ? found.error : worse_error(findings_.error, found.error);
  findings_.tolerance = found.tolerance;
  // A repetition with too few items checked takes precedence.
  if (findings_.checked == findings_.expected) {
    findings_.checked = found.items_checked;
    findings_.expected = expected;
  }
  findings_.wrong += found.wrong_items;
  findings_.reference = found.reference;
}

// Validates once before measuring: a wrong result has no speed.
bool CaseRun::warm_up(const Case& measured, CaseRecord& record) {
  const bool fixed = measured.fixed_count > 0;
  record.count = fixed ? measured.fixed_count : benchmark_.admissible_count(measured, 1);
  if (is_once(measured)) return true;
  for (std::uint64_t i = 0; i < measured.policy.warm_ups; ++i) {
    Timed timed(plan_of(measured, record.count));
    const bool validated = settings_.validate && i == 0;
    if (!repeat(measured, record, timed, validated)) return false;
    if (!validated) continue;
    gather_findings(measured, record);
    const bool sound = session_.world.rank() != 0 || record.outcome.status == "passed";
    if (!broadcast_value(session_.world, sound)) return false;
  }
  if (!fixed) record.count = adapt_count(measured, record);
  return record.count > 0;
}

// Seconds of the slowest rank for a loop, the minimum of a few probes, as one disturbed probe would fix a loop far too
// short; of one if it is far too long, disturbed or not. Valid on rank 0; none if a repetition failed.
std::optional<double> CaseRun::probe(const Case& measured, CaseRecord& record, std::uint64_t count) {
  const double enough = far_too_long * std::max(settings_.target_sample, settings_.longest_sample);
  double best = std::numeric_limits<double>::infinity(), spent = 0;
  bool again = true;
  for (int probes = 0; probes < most_probes && again; ++probes) {
    Timed timed(plan_of(measured, count));
    if (!repeat(measured, record, timed, false)) return std::nullopt;
    double slowest = 0;
    for (const double seconds : gather_values(session_.world, sample_.seconds)) slowest = std::max(slowest, seconds);
    best = std::min(best, slowest);
    spent += slowest;
    again = broadcast_value(session_.world, spent < longest_probing && slowest < enough);
  }
  return best;
}

// The loop length at which a sample reaches the target time; 0 if a repetition failed.
std::uint64_t CaseRun::adapt_count(const Case& measured, CaseRecord& record) {
  struct LoopLength {
    std::uint64_t count;
    bool final;
  };
  LoopLength choice{record.count, false};
  const std::uint64_t most =
      measured.most_operations > 0 ? std::min(measured.most_operations, longest_loop) : longest_loop;
  while (!choice.final) {
    const std::optional<double> probed = probe(measured, record, choice.count);
    if (!probed) return 0;
    const double slowest = *probed;
    if (session_.world.rank() == 0) {
      // Long enough for the clock, with enough operations to amortise the first one after the reset.
      const double operation = slowest / static_cast<double>(choice.count);
      const double target =
          std::max(settings_.target_sample, std::min(operation * fewest_operations, settings_.longest_sample));
      const double scale = slowest < settings_.target_sample / 10 ? 10.0 : std::max(1.0, target / slowest);
      const double wanted = std::min(std::ceil(static_cast<double>(choice.count) * scale), static_cast<double>(most));
      const bool final = slowest >= settings_.target_sample / 10 || choice.count >= std::min(most, longest_loop / 2);
      choice = {scale > 1 ? benchmark_.admissible_count(measured, static_cast<std::uint64_t>(wanted)) : choice.count,
                final};
    }
    choice = broadcast_value(session_.world, choice);
  }
  return choice.count;
}

bool CaseRun::measure_watched(const Case& measured, CaseRecord& record, Between* between) {
  if (between != nullptr) between->begin(record.count);
  const auto waited = waited_for_cores();
  const double begin = now_seconds();
  const bool whole = measure_samples(measured, record, between);
  const double share = longest_wait(waited, waited_for_cores(), now_seconds() - begin);
  for (const double of_rank : gather_values(session_.world, idles() ? 0.0 : share))
    record.waited_share = std::max(record.waited_share, of_rank);
  return whole;
}

bool CaseRun::measure_samples(const Case& measured, CaseRecord& record, Between* between) {
  World& world = session_.world;
  const bool once = is_once(measured);
  StoppingRule rule(policy_of(measured), once);
  const bool each =
      once || measured.policy.warm_ups == 0 || benchmark_.validate_when() == ValidateWhen::each_repetition;
  std::vector<double> slowest;  // rank 0
  int late_in_a_row = 0;
  EnergyMeter::Rest rest(energy_);
  const double begin = now_seconds();
  double aside = 0;  // seconds of anything else
  Surprises surprises;
  struct Decision {
    bool keep, stop, validate, between;
    double first_begin;
  } decision{false, false, false, between != nullptr, 0};
  const auto take_between = [&] {
    const double before = now_seconds();
    if (decision.between) between->take(slowest.size());
    aside += now_seconds() - before;
  };
  take_between();
  while (!decision.stop) {
    Timed timed(plan_of(measured, record.count));
    metered_ = once && measures_energy();
    const bool whole = repeat(measured, record, timed, settings_.validate && each);
    metered_ = false;
    if (!whole) return false;
    const std::vector<Sample> samples = gather_values(world, sample_);
    rest.read_between();  // all ranks have ended
    if (world.rank() == 0) {
      const bool late = std::any_of(samples.begin(), samples.end(), [](const Sample& s) { return s.late != 0; });
      start_.adapt(late);
      record.late_starts += late ? 1 : 0;
      late_in_a_row = late ? late_in_a_row + 1 : 0;
      decision.keep = !late || late_in_a_row > most_late_in_a_row || once;
      decision.validate = false;
      if (decision.keep) {
        double first = samples[0].begin, last = samples[0].end;
        std::vector<double> seconds;
        for (const Sample& s : samples) {
          first = std::min(first, s.begin);
          last = std::max(last, s.end);
          seconds.push_back(s.seconds);
        }
        slowest.push_back(*std::max_element(seconds.begin(), seconds.end()));
        record.global.push_back(last - first);
        decision.first_begin = first;
        decision.validate = settings_.validate && !each && surprises.take(seconds);
        if (auto stop = rule.decide(slowest, now_seconds() - begin - aside)) {
          record.stop = *stop;
          decision.stop = true;
        }
      }
      decision.between = between != nullptr && (decision.stop || between->is_due());
    }
    decision = broadcast_value(world, decision);
    if (decision.keep) keep(timed, decision.first_begin);
    if (decision.validate && !decision.stop) {
      const double before = now_seconds();
      validate_between(measured, record.count);
      aside += now_seconds() - before;
    }
    take_between();
  }
  if (settings_.validate && !each) validate(measured, record.count);
  return true;
}

// `first_begin`: start of this repetition on the earliest rank, on the common clock.
void CaseRun::keep(const Timed& timed, double first_begin) {
  if (!idles()) seconds_.push_back(sample_.seconds);
  device_seconds_.push_back(sample_.device_seconds);
  paused_seconds_.push_back(sample_.paused_seconds);
  const CommonClock& clock = start_.clock();
  for (std::size_t number = 0; number < timed.plan().phases.size(); ++number) {
    PhaseTimes& times = phases_[timed.plan().phases[number]];
    const std::vector<Span> spans = timed.spans(number);
    double seconds = spans.empty() ? nan : 0, begin = nan, end = nan;
    times.last.clear();
    for (const Span& span : spans) {
      if (times.last.size() < 2 * most_lives)
        for (const double at : {span.begin, span.end}) times.last.push_back(clock.to_common(at) - first_begin);
      seconds += span.end - span.begin;
      begin = std::fmin(begin, clock.to_common(span.begin) - first_begin);
      end = std::fmax(end, clock.to_common(span.end) - first_begin);
    }
    times.seconds.push_back(seconds);
    times.begin.push_back(begin);
    times.end.push_back(end);
  }
  const std::vector<double> laps = timed.laps(sample_.local_begin);
  laps_.insert(laps_.end(), laps.begin(), laps.end());
  for (const auto& [name, value] : timed.tallies()) tallies_[name] += value;
}

void CaseRun::gather_samples(CaseRecord& record) {
  World& world = session_.world;
  record.by_rank = gather_vectors(world, seconds_);
  const bool told = std::any_of(device_seconds_.begin(), device_seconds_.end(), [](double s) { return s > 0; });
  record.device_by_rank = gather_vectors(world, told ? device_seconds_ : std::vector<double>{});
  if (std::all_of(record.device_by_rank.begin(), record.device_by_rank.end(), [](const auto& v) { return v.empty(); }))
    record.device_by_rank.clear();
  const auto paused = gather_vectors(world, paused_seconds_);
  const auto pauses = [](const auto& v) { return std::any_of(v.begin(), v.end(), [](double s) { return s > 0; }); };
  if (std::any_of(paused.begin(), paused.end(), pauses)) record.paused_by_rank = paused;
}

// Phases are the same on all ranks; tallies may differ.
void CaseRun::gather_parts(CaseRecord& record, const Case& measured) {
  World& world = session_.world;
  for (const auto& [name, times] : phases_)
    record.phases[name] = {gather_vectors(world, times.seconds), gather_vectors(world, times.begin),
                           gather_vectors(world, times.end), gather_vectors(world, times.last)};
  if (measured.laps) record.laps_by_rank = gather_vectors(world, laps_);
  record.work_by_rank = gather_values(world, idles() ? Work{} : measured.work);
  const std::vector<std::string> texts = gather_texts(world, Json(tallies_).dump());
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    const Json tallies = Json::parse(texts[rank]);  // keeps the object alive: items() refers to it
    for (const auto& [name, value] : tallies.items()) {
      auto& by_rank = record.tallies_by_rank[name];
      by_rank.resize(texts.size(), 0.0);
      by_rank[rank] = value.get<double>();
      record.tallies[name] += by_rank[rank];
    }
  }
}

void CaseRun::gather_findings(const Case& measured, CaseRecord& record) {
  if (!settings_.validate) {
    record.outcome = {"skipped", "measured, but not validated (--skip-validation)"};
    return;
  }
  const Findings& f = findings_;
  const Json mine{{"error", finite_or_null(f.error)},
                  {"tolerance", f.tolerance},
                  {"checked", f.checked},
                  {"expected", f.repetitions > 0 ? f.expected : measured.items_to_check},
                  {"wrong", f.wrong},
                  {"repetitions", f.repetitions},
                  {"reference", f.reference},
                  {"detail", f.detail}};
  Json checked = Json::array(), expected = Json::array(), detail = nullptr;
  double error = 0, tolerance = 0;
  std::uint64_t wrong = 0, repetitions = 0, items = 0;
  bool passed = true;
  std::string reference;
  int rank = 0;
  for (const std::string& text :
       gather_texts(session_.world, mine.dump(-1, ' ', false, Json::error_handler_t::replace))) {
    const Json got = Json::parse(text);
    const double found = number_or_nan(got["error"]);
    checked.push_back(got["checked"]);
    expected.push_back(got["expected"]);
    const bool sound = is_within(found, got["tolerance"].get<double>()) && got["checked"] == got["expected"] &&
                       got["detail"] == "" && got["repetitions"].get<std::uint64_t>() > 0;
    if (!sound && detail.is_null()) detail = fmt::format("rank {}, {}", rank, got["detail"].get<std::string>());
    passed = passed && sound;
    error = rank == 0 ? found : worse_error(error, found);
    if (!is_idle(rank)) tolerance = got["tolerance"];
    wrong += got["wrong"].get<std::uint64_t>();
    repetitions = rank == 0 ? got["repetitions"].get<std::uint64_t>()
                            : std::min(repetitions, got["repetitions"].get<std::uint64_t>());
    items += got["checked"].get<std::uint64_t>();
    if (reference.empty()) reference = got["reference"];
    ++rank;
  }
  if (rank == 0) return;  // only rank 0 judges
  if (items == 0 && passed) {
    passed = false;
    detail = "no rank checked anything";
  }
  record.validation = {{"performed", true},      {"error", finite_or_null(error)},     {"tolerance", tolerance},
                       {"reference", reference}, {"items_checked", checked},           {"items_expected", expected},
                       {"wrong_items", wrong},   {"repetitions_checked", repetitions}, {"detail", detail}};
  record.outcome =
      passed ? Outcome{} : Outcome{"failed", detail.is_null() ? "wrong answer" : detail.get<std::string>()};
  if (!f.implausible.empty()) record.outcome = {"error", f.implausible};
}

void CaseRun::judge_stability(CaseRecord& record) const {
  const std::size_t kept = record.global.size();
  if (record.stop.reason == "time" || record.stop.reason == "repetitions")
    record.warnings.push_back(
        {"unstable",
         fmt::format("stopped by {} after {} repetitions with an interval of {} around the median (wanted: {:.1f} %)",
                     record.stop.reason, kept,
                     record.stop.half_width ? fmt::format("±{:.1f} %", *record.stop.half_width * 100) : "unknown width",
                     settings_.policy.confidence * 100)});
  if (record.late_starts > 10 && static_cast<double>(record.late_starts) > 0.2 * static_cast<double>(kept))
    record.warnings.push_back(
        {"late_starts", fmt::format("{} starts were late beside {} repetitions kept", record.late_starts, kept)});
  if (record.device_by_rank.empty()) return;
  const Summary device = summarise(slowest_of_each(record.device_by_rank));
  const Summary host = summarise(slowest_of_each(record.by_rank));
  if (device.median > host.median * 1.02)
    record.warnings.push_back(
        {"clocks_disagree", fmt::format("the device says {} a sample, the host {}", format_seconds(device.median),
                                        format_seconds(host.median))});
}

}  // namespace plumb
