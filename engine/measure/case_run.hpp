// One case, from prepare to release.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/runner.hpp"
#include "measure/start.hpp"
#include "world/collect.hpp"

namespace plumb {

// Results of a case: complete on rank 0; other ranks have their own samples only.
struct CaseRecord {
  Outcome outcome;
  std::uint64_t count = 1;
  Stop stop;
  std::uint64_t late_starts = 0;
  double waited_share = 0;  // share of the repetitions' time in which a thread of the worst rank waited for a core
  std::vector<std::vector<double>> by_rank;         // seconds [rank][repetition]
  std::vector<double> global;                       // seconds, latest end minus earliest start
  std::vector<std::vector<double>> device_by_rank;  // empty if the device reports no times
  // Of each phase [rank][repetition]: first begin and last end of all its intervals since the earliest rank's start;
  // NaN if absent.
  struct Phase {
    std::vector<std::vector<double>> seconds, begin, end;
    std::vector<std::vector<double>> last;  // of the last repetition: begin and end of each life, one after the other
  };
  std::map<std::string, Phase> phases;
  std::vector<std::vector<double>> paused_by_rank;             // empty without pauses
  std::vector<std::vector<double>> laps_by_rank;               // seconds of each operation of all repetitions
  std::map<std::string, std::vector<double>> tallies_by_rank;  // over the repetitions
  std::map<std::string, double> tallies;                       // over all ranks
  std::vector<Work> work_by_rank;
  Json validation = nullptr;
  Json facts = Json::object();  // of rank 0
  Json energy = nullptr;        // null: not wished, or no sensor was selected
  std::vector<Warning> warnings;
};

// Outcome of a collective action: "error" or "unsupported" with the first rank's reason; none if all ranks succeeded.
// Collective.
std::optional<Outcome> hindrance(World& world, const std::function<void()>& action);

// Plan of a sample of this case.
TimedPlan plan_of(const Case& measured, std::uint64_t count);

// Merges a repeated measurement of the same case, with the same count.
void add_measurement(CaseRecord& record, CaseRecord more);

// What is measured between the repetitions of a case: before the first, when it is due, and after the last.
class Between {
 public:
  virtual ~Between() = default;
  virtual void begin(std::uint64_t count) = 0;  // collective, before the first repetition, of `count` operations
  virtual bool is_due() const = 0;              // rank 0
  virtual void take(std::size_t kept) = 0;      // collective; after so many kept repetitions, valid on rank 0
};

// Repetitions in which a rank is faster by a tenth than in all that were validated. Rates are those of each rank's
// fastest: what it left out would be its speed.
class Surprises {
 public:
  // Whether a repetition, by seconds of each rank, is one. It must be validated then.
  bool take(const std::vector<double>& seconds);

 private:
  std::vector<double> fastest_;  // validated, by rank
};

class CaseRun {
 public:
  // energy: null to measure none.
  CaseRun(Benchmark& benchmark, Session& session, const RunSettings& settings, SynchronisedStart& start,
          EnergyMeter* energy = nullptr)
      : benchmark_(benchmark), session_(session), settings_(settings), start_(start), energy_(energy) {}

  // Collective. `again`: repeats a measurement of the same case, with new data. `between`: null for nothing.
  CaseRecord measure(const Case& measured, bool again = false, Between* between = nullptr);

  // The same in pieces, all collective: everything before the samples, one of these, the gathering of those since the
  // last one, and everything after them. A sample is validated at once where a rank is a surprise (Surprises). After a
  // failure, which is in the record's outcome, only close() may follow.
  bool open(const Case& measured, CaseRecord& record);
  bool sample(const Case& measured, CaseRecord& record);
  void gather(const Case& measured, CaseRecord& record);
  void close(const Case& measured, CaseRecord& record);

 private:
  // One repetition on this rank.
  struct Sample {
    double begin = 0, end = 0;  // on the common clock
    double local_begin = 0;     // on this process's clock
    double seconds = 0;         // on this rank's own clock
    double device_seconds = 0, paused_seconds = 0;
    char late = 0;
  };
  // Validations of this rank, over the repetitions.
  struct Findings {
    double error = 0, tolerance = 0;
    std::uint64_t checked = 0, expected = 0, wrong = 0, repetitions = 0;
    std::string reference, detail, implausible;
  };

  void forget();
  void forget_samples();
  bool prepare(const Case& measured, CaseRecord& record);
  void add_files(CaseRecord& record);
  bool repeat(const Case& measured, CaseRecord& record, Timed& timed, bool validate);
  bool is_once(const Case& measured) const;
  bool is_idle(int rank) const { return settings_.active_ranks > 0 && rank >= settings_.active_ranks; }
  bool idles() const { return is_idle(session_.world.rank()); }
  void work(const Case& measured, Timed& timed);
  Policy policy_of(const Case& measured) const;
  bool warm_up(const Case& measured, CaseRecord& record);
  std::optional<double> probe(const Case& measured, CaseRecord& record, std::uint64_t count);
  std::uint64_t adapt_count(const Case& measured, CaseRecord& record);
  bool measure_watched(const Case& measured, CaseRecord& record, Between* between);
  bool measure_samples(const Case& measured, CaseRecord& record, Between* between);
  bool measures_energy() const { return energy_ != nullptr && energy_->measures_cases(); }
  void measure_energy(const Case& measured, CaseRecord& record);
  std::string no_energy_repetition(const Case& measured, const CaseRecord& record, std::uint64_t& count) const;
  std::uint64_t longer_count(const Case& measured, std::uint64_t count, double seconds, double spent) const;
  bool repeat_for_energy(const Case& measured, CaseRecord& record, std::uint64_t& count);
  energy::Region region_of_sample();
  Json energy_of_region(const Case& measured, const CaseRecord& record, std::uint64_t count);
  void keep(const Timed& timed, double first_begin);
  void validate(const Case& measured, std::uint64_t count);
  void validate_between(const Case& measured, std::uint64_t count);
  void gather_samples(CaseRecord& record);
  void gather_parts(CaseRecord& record, const Case& measured);
  void gather_findings(const Case& measured, CaseRecord& record);
  void judge_stability(CaseRecord& record) const;

  Benchmark& benchmark_;
  Session& session_;
  const RunSettings& settings_;
  SynchronisedStart& start_;
  EnergyMeter* energy_;
  bool metered_ = false;          // the meter reads around this repetition
  std::uint64_t repetition_ = 0;  // over all attempts, so that each has different data
  Sample sample_;
  std::vector<double> seconds_, device_seconds_, paused_seconds_, laps_;  // of this rank's kept repetitions
  struct PhaseTimes {
    std::vector<double> seconds, begin, end, last;
  };
  std::map<std::string, PhaseTimes> phases_;
  std::map<std::string, double> tallies_;
  Findings findings_;
  Surprises surprises_;  // of a case measured in pieces
};

}  // namespace plumb
