// osu_shmem: OSU's OpenSHMEM tests (19, of its micro-benchmarks 7.5), each completed before its clock stops and each
// effect checked. A test's kind: latency, bandwidth, message rate, overlap, atomic or collective. README.md in this
// folder defines what is timed in each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/osu/computing.hpp"
#include "benchmarks/shmem/api/row.hpp"

namespace plumb::osu {

class OsuShmem : public operations::Table<shmem_api::Setting> {
 public:
  OsuShmem();
  std::string name() const override { return "osu_shmem"; }
  std::string title() const override { return "OSU's OpenSHMEM tests"; }
  std::string source() const override {
    return "OSU Micro-Benchmarks 7.5, openshmem; completed before the clock stops";
  }
  Preset preset(const std::string& name) const override;

  void check(const Plan& plan) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare(Session& session, const Case& measured) override;
  void reset(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) override;
  void run(Session&, const Case&, Timed& timed) override;
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 protected:
  shmem_api::Setting setting(const Plan& plan, const Point& point) const override;

 private:
  void time_alone(std::uint64_t repetition, std::uint64_t count);
  // PEs whose times OSU uses: PE 0, the acting ones, or all.
  int timed_pes(const Test& test, int ranks) const;

  Choice area_{*this,
               {"area", "where the messages lie: in the symmetric heap, or in global variables"},
               "heap",
               {"heap", "global"}};
  Parameter<std::int64_t> window_{
      *this,
      {"window", "bandwidth and message rate: operations between two completions", "", {"-W"}},
      64,
      {1, 1 << 20}};

  std::shared_ptr<Computing> computing_ = std::make_shared<Computing>();
  bool overlaps_ = false, is_timed_ = false;
  double alone_s_ = 0, computing_s_ = 0;
};

}  // namespace plumb::osu
