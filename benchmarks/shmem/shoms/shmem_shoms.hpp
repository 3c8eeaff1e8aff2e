// shoms: cost of each function of OpenSHMEM, from a table of the API; tests, options and columns of SHOMS (Oak Ridge's
// OpenSHMEM micro-benchmarks; seed: OpenSHMEM Benchmark Suite). README.md describes execution, timing and validation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/shmem/api/row.hpp"
#include "measure/benchmark.hpp"

namespace plumb::shoms {

class Shoms : public operations::Table<shmem_api::Setting> {
 public:
  Shoms();
  std::string name() const override { return "shoms"; }
  std::string title() const override { return "the cost of each function of OpenSHMEM"; }
  std::string source() const override {
    return "SHOMS of Oak Ridge's OpenSHMEM Benchmark Suite (Naughton, Aderholdt, Baker and others, 2018), its effects "
           "checked";
  }
  Preset preset(const std::string& name) const override;
  bool threads_communicate() const override { return threads_.get() > 1; }

  void check(const Plan& plan) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare_group(Session& session, const Group& group, Timed&) override;
  void reset(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) override;
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 protected:
  shmem_api::Setting setting(const Plan& plan, const Point& point) const override;
  std::string hindrance(const Row& row) const override;

 private:
  std::vector<const Test*> picked() const;
  std::vector<std::uint64_t> sizes() const;

  Choice set_{*this,
              {"tests", "SHOMS' own tests, tests of newer OpenSHMEM functions, or all"},
              "shoms",
              {"shoms", "later", "all"}};
  Parameter<std::string> input_{*this, {"input", "file with names of tests to run, one per line"}, ""};
  Parameter<std::string> msglen_{*this, {"msglen", "file with message sizes in bytes, one per line"}, ""};
  Parameter<bool> off_cache_{
      *this,
      {"off-cache", "put, get, local_*: cycle through memory of twice the largest cache", "", {"--off_cache"}},
      false};
  Parameter<std::int64_t> spread_{
      *this,
      {"spread", "put, get: size of the target's memory over which places are scattered; 0: two places", "log2 B"},
      0,
      {0, 36}};
  Parameter<std::int64_t> window_{
      *this,
      {"window", "operations without completion (put, *_nbi, atomics without result): number per shmem_quiet"},
      1,
      {1, 1 << 20}};
  Parameter<bool> warmup_{
      *this,
      {"warmup", "run a tenth of each repetition's operations before it, untimed, in addition to the engine's warm-up"},
      false};
  Parameter<bool> affinity_{*this, {"affinity", "two PEs: all pairs of their cores, 17 tests at --minsize"}, false};
  Parameter<std::string> cores_{*this, {"cores", "--affinity: cores to use, such as 0,2,4-7; default: all"}, ""};
  Parameter<std::int64_t> threads_{
      *this, {"threads", "put, get and atomic tests: threads of PE 0, each with its own context"}, 1, {1, 1024}};
};

}  // namespace plumb::shoms
