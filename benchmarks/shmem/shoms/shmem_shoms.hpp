// shoms: what each function of OpenSHMEM costs, from a table of the API; the tests, options and columns of SHOMS (Oak
// Ridge's OpenSHMEM micro-benchmarks; seed: OpenSHMEM Benchmark Suite). README.md beside this says how each is run,
// timed and checked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/shmem/api/row.hpp"
#include "measure/benchmark.hpp"

namespace plumb::shoms {

class Shoms : public Benchmark {
 public:
  std::string name() const override { return "shoms"; }
  std::string title() const override { return "the cost of each function of OpenSHMEM"; }
  std::string source() const override {
    return "SHOMS of Oak Ridge's OpenSHMEM Benchmark Suite (Naughton, Aderholdt, Baker and others, 2018), its effects "
           "checked";
  }
  Preset preset(const std::string& name) const override;
  bool needs_device() const override { return false; }
  bool threads_communicate() const override { return threads_.get() > 1; }

  void check(const Plan& plan) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare_group(Session& session, const Group& group, Timed&) override;
  void prepare(Session& session, const Case& measured) override;
  std::uint64_t admissible_count(const Case& measured, std::uint64_t wanted) const override;
  void reset(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) override;
  void run(Session&, const Case&, Timed& timed) override;
  Validation validate(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) override {
    return test_->validate(repetition, count);
  }
  Json facts() const override { return test_ ? test_->facts() : Json::object(); }
  void release() override { test_.reset(); }
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 protected:
  // The table that is run: the API's, or with a row replaced.
  virtual const std::vector<shmem_api::Row>& table() const { return shmem_api::api_table(); }

 private:
  std::vector<const shmem_api::Row*> rows() const;
  const shmem_api::Row& row_of(const Case& measured) const;
  std::vector<std::uint64_t> sizes() const;
  shmem_api::Setting setting(const Plan& plan, std::uint64_t bytes) const;
  Group group_of(const shmem_api::Row& row, const Plan& plan, const std::string& place, Json labels) const;
  std::string hindrance(const shmem_api::Row& row) const;

  Choice tests_{*this,
                {"tests", "SHOMS' own tests, those of what came to OpenSHMEM after it, or all"},
                "shoms",
                {"shoms", "later", "all"}};
  Parameter<std::string> only_{
      *this,
      {"only", "only tests of this name, or whose names begin so or match a pattern with *; several with commas"},
      ""};
  Parameter<std::string> input_{*this, {"input", "file with the names of the tests to run, one a line"}, ""};
  Parameter<std::int64_t> minsize_{*this, {"minsize", "smallest message", "B"}, 8, {1, std::int64_t{1} << 36}};
  Parameter<std::int64_t> maxsize_{*this, {"maxsize", "largest message", "B"}, 16777216, {1, std::int64_t{1} << 36}};
  Parameter<std::int64_t> size_factor_{*this, {"size-factor", "from one message size to the next"}, 2, {2, 1 << 20}};
  Parameter<std::string> msglen_{*this, {"msglen", "file with the message sizes in bytes, one a line"}, ""};
  Parameter<bool> off_cache_{
      *this,
      {"off-cache", "put, get, local_*: go through memory of twice the largest cache", "", {"--off_cache"}},
      false};
  Parameter<std::int64_t> spread_{
      *this,
      {"spread", "put, get: the other PE's places lie scattered over so much of its memory; 0: two places", "log2 B"},
      0,
      {0, 36}};
  Parameter<std::int64_t> window_{
      *this,
      {"window",
       "what does not complete by itself (put, *_nbi, atomics without result): operations for each shmem_quiet"},
      1,
      {1, 1 << 20}};
  Parameter<bool> warmup_{
      *this, {"warmup", "before each repetition a tenth of its operations, untimed, beside the engine's own"}, false};
  Parameter<bool> affinity_{
      *this, {"affinity", "two PEs: each core of one with each core of the other, 17 tests at --minsize"}, false};
  Parameter<std::string> cores_{*this, {"cores", "--affinity: only these cores, as 0,2,4-7; all when not given"}, ""};
  Parameter<std::int64_t> threads_{
      *this, {"threads", "put, get and atomic tests: threads of PE 0, each in a context of its own"}, 1, {1, 1024}};
  Parameter<bool> known_faults_{*this, {"known-faults", "also run what this library is known to break on"}, false};

  std::unique_ptr<shmem_api::Test> test_;
  std::uint64_t multiple_ = 1;
};

}  // namespace plumb::shoms
