// Runs a benchmark: for each case prepare, validate once, warm up, find the loop length, measure with a synchronised
// start until the stopping rule is content, validate, record.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "measure/benchmark.hpp"
#include "measure/host.hpp"
#include "measure/stopping.hpp"

namespace plumb {

struct RunSettings {
  Policy policy;
  bool synchronise_by_clock = true;  // else by a barrier
  bool validate = true;
  bool setup_only = false;        // --test
  int active_ranks = 0;           // the first so many work, the rest idle; 0: all
  double target_sample = 1e-3;    // seconds that an adaptive loop lasts
  double longest_sample = 10e-3;  // seconds up to which it is made longer for operations that are slow themselves
  std::vector<std::shared_ptr<Benchmark>> parts = {};  // measured beside the cases (measure/parts.hpp)
};

// What a case has of each kind of work; what it has none of is left out.
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

// Collective. `head` is the record's first part and `record_path` where it goes (rank 0; "" = nowhere).
// A failure between ranks' agreements (inside run()) propagates as an exception: the caller ends all ranks.
RunResult run_benchmark(Benchmark& benchmark, const std::vector<Group>& groups, Session& session,
                        const RunSettings& settings, const Places& places, Json head, const std::string& record_path,
                        Listener& listener);

}  // namespace plumb
