// GUPS: updates of random words of one table in the memory of all ranks, by HPCC's rules. README.md derives every
// metric and the validation's bounds.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/shmem/gups/updater.hpp"
#include "measure/benchmark.hpp"

namespace plumb::gups {

class Gups : public Benchmark {
 public:
  explicit Gups(UpdaterFactory make_updater) : make_updater_(std::move(make_updater)) {}
  std::string name() const override { return "gups"; }
  std::string title() const override { return "updates of random words of a table in all ranks' memory"; }
  std::string source() const override {
    return "HPC Challenge RandomAccess 2.1 and the OpenSHMEM Benchmark Suite's GUPS (4n updates of n words, at most "
           "1,024 "
           "ahead, at most 1 % of the words wrong)";
  }
  Preset preset(const std::string& name) const override;
  bool needs_device() const override { return false; }
  bool threads_communicate() const override { return threads_.given() || variant_ == "threaded"; }

  std::vector<Group> groups(const Plan& plan) const override;
  void prepare(Session& session, const Case& measured) override;
  void reset(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override;
  void run(Session& session, const Case& measured, Timed& timed) override;
  Validation validate(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override;
  Json facts() const override;
  void release() override;
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 private:
  Choice variant_{
      *this,
      {"variant", "method of updating a word; all: get-put, atomic, bucketed, and threaded if --threads is given"},
      "all",
      {"all", "get-put", "atomic", "bucketed", "threaded"}};
  Parameter<std::int64_t> size_{
      *this,
      {"size", "words (8 B) of the table for each rank; 0: half of a node's memory, as in HPCC", "log2 words"},
      22,
      {0, 36}};
  Choice stream_{*this,
                 {"stream", "the random words: HPCC's polynomial, or its linear congruential generator"},
                 "polynomial",
                 {"polynomial", "lcg"}};
  Parameter<std::int64_t> threads_{
      *this, {"threads", "variant threaded: threads of a rank, each with its own context"}, 2, {1, 1024}};
  Parameter<double> time_bound_{
      *this,
      {"time-bound", "time limit of a repetition, which reduces the updates, estimated from a hundredth of them", "s"},
      60,
      {0.01, 1e6}};

  std::vector<std::string> variants() const;
  Problem problem(int ranks) const;
  Share share(int rank) const;  // of this case's updates, within the time limit
  double share_in_time(World& world);
  void fill(int rank);
  void check_made(World& world, Validation& validation);

  UpdaterFactory make_updater_;
  std::unique_ptr<Problem> problem_;
  std::unique_ptr<Updater> updater_;
  double done_ = 1;                        // share of all updates within the time limit
  std::uint64_t asked_ = 0, made_ = 0;     // updates of this rank, in all runs of this case
  std::map<std::string, double> updates_;  // of all ranks in one repetition, by case
};

}  // namespace plumb::gups
