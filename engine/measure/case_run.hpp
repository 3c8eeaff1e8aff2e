// One case, from prepare to release: what run_benchmark does for each.
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

// A case measured, on rank 0 whole, on other ranks without the others' samples.
struct CaseRecord {
  Outcome outcome;
  std::uint64_t count = 1;
  Stop stop;
  std::uint64_t late_starts = 0;
  std::vector<std::vector<double>> by_rank;         // seconds [rank][repetition]
  std::vector<double> global;                       // seconds, last end minus first start
  std::vector<std::vector<double>> device_by_rank;  // empty when the device tells no time
  std::map<std::string, std::vector<std::vector<double>>> phases;
  std::map<std::string, double> tallies;
  Json validation = nullptr;
  Json facts = Json::object();  // of rank 0
  std::vector<Warning> warnings;
};

// What keeps some rank from an action that all take: "error" or "unsupported", and why; none when all could.
// Collective.
std::optional<Outcome> hindrance(World& world, const std::function<void()>& action);

class CaseRun {
 public:
  CaseRun(Benchmark& benchmark, Session& session, const RunSettings& settings, SynchronisedStart& start)
      : benchmark_(benchmark), session_(session), settings_(settings), start_(start) {}

  // Collective.
  CaseRecord measure(const Case& measured);

 private:
  // What this rank saw of one repetition.
  struct Sample {
    double begin = 0, end = 0;  // on the common clock
    double seconds = 0;         // on this rank's own clock
    double device_seconds = 0;
    char late = 0;
  };
  // What this rank's validations found, over the repetitions.
  struct Findings {
    double error = 0, tolerance = 0;
    std::uint64_t checked = 0, expected = 0, wrong = 0, repetitions = 0;
    std::string reference, detail;
  };

  bool prepare(const Case& measured, CaseRecord& record);
  bool repeat(const Case& measured, CaseRecord& record, Timed& timed, bool validate);
  bool warm_up(const Case& measured, CaseRecord& record);
  std::optional<double> probe(const Case& measured, CaseRecord& record, std::uint64_t count);
  std::uint64_t adapt_count(const Case& measured, CaseRecord& record);
  bool measure_samples(const Case& measured, CaseRecord& record);
  void keep(const Timed& timed);
  void validate(const Case& measured, std::uint64_t count);
  void gather_samples(CaseRecord& record);
  void gather_findings(const Case& measured, CaseRecord& record);
  void judge_stability(CaseRecord& record) const;

  Benchmark& benchmark_;
  Session& session_;
  const RunSettings& settings_;
  SynchronisedStart& start_;
  std::uint64_t repetition_ = 0;  // of all attempts, so that no two have the same content
  Sample sample_;
  std::vector<double> seconds_, device_seconds_;  // kept samples of this rank
  std::map<std::string, std::vector<double>> phases_;
  std::map<std::string, double> tallies_;
  Findings findings_;
};

}  // namespace plumb
