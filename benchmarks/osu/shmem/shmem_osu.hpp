// osu_shmem: OSU's OpenSHMEM tests (19, of its micro-benchmarks 7.5), each completed before its clock stops and each
// effect checked. README.md beside this says what is timed in each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/shmem/api/row.hpp"
#include "measure/benchmark.hpp"

namespace plumb::osu {

// One of OSU's tests: the row of the API that it runs, and what it reports.
struct OsuTest {
  std::string name;                  // "osu_oshm_put"
  std::string kind;                  // "latency", "bandwidth", "message rate", "overlap", "atomic", "collective"
  std::vector<shmem_api::Row> rows;  // several: one case each, without sizes
};

// Computing that lasts as long as it is told to; it is done between a transfer's begin and its end.
struct Computing {
  double seconds_per_turn = 0;
  std::uint64_t turns = 0;
  void measure();
  void compute() const;
};

class OsuShmem : public Benchmark {
 public:
  OsuShmem();
  std::string name() const override { return "osu_shmem"; }
  std::string title() const override { return "OSU's OpenSHMEM tests"; }
  std::string source() const override {
    return "OSU Micro-Benchmarks 7.5, openshmem; completed before the clock stops";
  }
  Preset preset(const std::string& name) const override;
  bool needs_device() const override { return false; }

  void check(const Plan& plan) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare(Session& session, const Case& measured) override;
  void reset(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) override;
  void run(Session&, const Case&, Timed& timed) override;
  Validation validate(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) override {
    return test_->validate(repetition, count);
  }
  Json facts() const override { return test_ ? test_->facts() : Json::object(); }
  void release() override { test_.reset(); }
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 protected:
  std::vector<OsuTest> tests_;

 private:
  const OsuTest& test_of(const Case& measured) const;
  const shmem_api::Row& row_of(const Case& measured) const;
  shmem_api::Setting setting(const Plan& plan, const OsuTest& test, std::uint64_t bytes) const;
  Case make_case(const OsuTest& test, const shmem_api::Row& row, const Plan& plan, std::uint64_t bytes,
                 std::uint64_t& symmetric) const;
  void time_alone(std::uint64_t repetition, std::uint64_t count);
  // How many PEs OSU takes the times of: PE 0, those that act, or all.
  int timed_pes(const OsuTest& test, int ranks) const;

  Parameter<std::string> only_{
      *this,
      {"only", "only tests of this name, or whose names begin so or match a pattern with *; several with commas"},
      ""};
  Choice area_{*this,
               {"area", "where the messages lie: in the symmetric heap, or in global variables"},
               "heap",
               {"heap", "global"}};
  Parameter<std::int64_t> minsize_{*this, {"minsize", "smallest message", "B"}, 1, {1, std::int64_t{1} << 34}};
  Parameter<std::int64_t> maxsize_{*this, {"maxsize", "largest message", "B"}, 1048576, {1, std::int64_t{1} << 34}};
  Parameter<std::int64_t> size_factor_{*this, {"size-factor", "from one message size to the next"}, 2, {2, 1 << 20}};
  Parameter<std::int64_t> window_{
      *this,
      {"window", "bandwidth and message rate: operations between two completions", "", {"-W"}},
      64,
      {1, 1 << 20}};

  Parameter<bool> known_faults_{*this, {"known-faults", "also run what this library is known to break on"}, false};

  std::shared_ptr<Computing> computing_ = std::make_shared<Computing>();
  std::unique_ptr<shmem_api::Test> test_;
  bool overlaps_ = false, is_timed_ = false;
  double alone_s_ = 0, computing_s_ = 0;
};

}  // namespace plumb::osu
