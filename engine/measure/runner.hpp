// Runs a benchmark: for each case prepare, validate once, warm up, find the loop length, measure with a synchronised
// start until the stopping rule is met, validate, record.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "measure/benchmark.hpp"
#include "measure/energy_meter.hpp"
#include "measure/host.hpp"
#include "measure/stopping.hpp"

namespace plumb {

// Parts by one line of --parts: cases of a benchmark, measured within the cases with these keys, or else beside them.
struct PartsOf {
  std::string text;  // the benchmark and its options
  std::shared_ptr<Benchmark> benchmark;
  std::vector<std::string> within = {};
};

struct RunSettings {
  Policy policy;
  bool synchronise_by_clock = true;  // otherwise by a barrier
  bool validate = true;
  bool setup_only = false;          // --test
  int active_ranks = 0;             // ranks that work, the others idle; 0: all
  double target_sample = 1e-3;      // seconds per sample of an adaptive loop
  double longest_sample = 10e-3;    // upper bound in seconds if operations are slow
  std::vector<PartsOf> parts = {};  // measured with the cases (measure/parts.hpp)
  EnergyWish energy = {};
};

// Kinds of work of a case, without zeros.
Json to_json(const Work& work);

struct Outcome {
  std::string status = "passed";  // passed, failed, unsupported, skipped, error
  std::string reason = {};
};

struct RunResult {
  Outcome outcome;
  bool record_lost = false;
  Json record;  // rank 0 only
};

// Collective. `energy`: null to measure none. `head` is the record's first part and `record_path` its file (rank 0; ""
// = none). A failure outside of agreed steps (inside run()) propagates as an exception: the caller ends all ranks.
RunResult run_benchmark(Benchmark& benchmark, const std::vector<Group>& groups, Session& session,
                        const RunSettings& settings, const Places& places, Json head, const std::string& record_path,
                        Listener& listener, EnergyMeter* energy = nullptr);

}  // namespace plumb
