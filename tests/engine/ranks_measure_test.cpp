// A benchmark's reports on its samples, on every number of ranks: a declaration that uses each part of the
// contract.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "device/device.hpp"
#include "measure/runner.hpp"
#include "tests/engine/ranks_fixture.hpp"

namespace plumb {
namespace {

constexpr std::uint64_t operations = 120;

// Two phases that overlap, one of them on the last rank only and not in the second repetition; laps; a pause in each
// operation; tallies and work that differ by rank; a group whose set-up is a phase.
class Contract : public Benchmark {
 public:
  std::string name() const override { return "contract"; }
  std::string title() const override { return "each part of the contract"; }
  std::string source() const override { return "a test"; }
  Preset preset(const std::string&) const override { return {}; }

  std::vector<Group> groups(const Plan& plan) const override {
    Case one;
    one.key = "one";
    one.labels = {{"case", "one"}};
    one.work.edges = 10 + static_cast<std::uint64_t>(plan.rank);
    one.fixed_count = operations;
    one.items_to_check = 1;
    one.policy = {CasePolicy::Kind::fixed, 3, 2};
    one.phases = {"always", "sometimes"};
    one.laps = true;
    one.threads = 2;
    Group first{"first", {one}}, second{"second", {one}};
    first.phases = {"construction"};
    second.cases[0].key = "two";
    second.cases[0].policy = {CasePolicy::Kind::once};
    return {first, second};
  }
  void prepare_group(Session&, const Group& group, Timed& timed) override {
    open_groups_.push_back(group.key);
    if (group.phases.empty()) return;
    const auto construction = timed.phase(timed.number_of("construction"));
    spin(2e-3);
  }
  void release_group() override {
    ASSERT_EQ(open_groups_.size(), 1u);
    open_groups_.clear();
    ++released_;
  }
  void prepare(Session& session, const Case&) override {
    repetition_ = 0;
    last_ = session.world.rank() == session.world.size() - 1;
    rank_ = session.world.rank();
  }
  void reset(Session&, const Case&, std::uint64_t, std::uint64_t) override { ++repetition_; }
  void run(Session&, const Case&, Timed& timed) override {
    const std::size_t always = timed.number_of("always"), sometimes = timed.number_of("sometimes");
    std::thread other([&] {
      Timed& own = timed.thread(1);
      const auto phase = own.phase(always);
      own.lap();
    });
    const auto phase = timed.phase(always);
    if (last_ && repetition_ != 4) timed.begin(sometimes);  // the second of those kept: two come before
    for (std::uint64_t i = 0; i < timed.count(); ++i) {
      const Timed::Pause pause(timed);
      spin(20e-6);
      timed.lap();
    }
    if (last_ && repetition_ != 4) timed.end(sometimes);
    timed.tally("visited", 1.0 + rank_);
    other.join();
  }
  Validation validate(Session&, const Case&, std::uint64_t, std::uint64_t) override {
    Validation validation;
    validation.items_checked = 1;
    return validation;
  }
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override {
    EXPECT_EQ(result.work_by_rank.size(), static_cast<std::size_t>(ranks));
    EXPECT_EQ(result.work_by_rank.back().edges, 10u + static_cast<unsigned>(ranks) - 1);
    EXPECT_EQ(result.laps->samples, result.summary.samples * (operations + 1) * static_cast<std::size_t>(ranks));
    const auto& always = result.phases_by_rank.at("always");
    return {{"always", reduced(always, RankRule::slowest), "s", "the slowest rank's median"}};
  }

  int released() const { return released_; }
  std::uint64_t repetitions() const { return repetition_; }

 private:
  static void spin(double seconds) {
    for (const double end = now_seconds() + seconds; now_seconds() < end;)
      ;
  }

  std::vector<std::string> open_groups_;
  int released_ = 0, rank_ = 0;
  std::uint64_t repetition_ = 0;
  bool last_ = false;
};

// The record of a run, on rank 0.
Json record_of(Contract& contract, std::uint64_t asked) {
  World& world = test_world();
  const auto runtime = Registry<RuntimeFactory>::instance().find("native")->operator()();
  const auto device = runtime->open(runtime->infos().front());
  Session session{world, *device, nullptr, {}};
  RunSettings settings;
  settings.policy.fixed = asked;
  settings.synchronise_by_clock = false;
  const auto listener = make_listener("none");
  const Plan plan{world.rank(), world.size(), 1};
  return run_benchmark(contract, contract.groups(plan), session, settings, gather_places(world), Json::object(), "",
                       *listener)
      .record;
}

std::size_t last_rank() {
  return static_cast<std::size_t>(test_world().size()) - 1;
}

TEST(Measure, KeepsWhatACaseTells) {
  Contract contract;
  const Json record = record_of(contract, 0);
  EXPECT_EQ(contract.released(), 2);
  if (test_world().rank() != 0) return;
  const Json& one = record["cases"][0];
  EXPECT_EQ(one["policy"], "fixed");
  EXPECT_EQ(one["repetitions"], 3);
  EXPECT_EQ(record["cases"][1]["policy"], "once");
  EXPECT_EQ(record["cases"][1]["repetitions"], 1);
  const Json& sometimes = one["phases"]["sometimes"];
  for (std::size_t rank = 0; rank <= last_rank(); ++rank)
    for (std::size_t repetition = 0; repetition < 3; ++repetition) {
      const bool there = rank == last_rank() && repetition != 1;
      EXPECT_NE(sometimes["by_rank"][rank][repetition].is_null(), there);
      EXPECT_NE(sometimes["begin_by_rank"][rank][repetition].is_null(), there);
      const Json& always = one["phases"]["always"];
      EXPECT_LE(always["begin_by_rank"][rank][repetition].get<double>(),
                always["end_by_rank"][rank][repetition].get<double>());
    }
  EXPECT_EQ(record["set_ups"].size(), 1u);
  EXPECT_GE(record["set_ups"][0]["by_rank"][last_rank()].get<double>(), 2e-3);
  if (last_rank() == 0) {
    EXPECT_FALSE(one.contains("work_by_rank")) << "ranks do alike";
  } else {
    EXPECT_EQ(one["work_by_rank"][last_rank()]["edges"], 10 + last_rank());
  }
  EXPECT_EQ(one["tallies_by_rank"]["visited"][last_rank()], 3.0 * static_cast<double>(last_rank() + 1));
}

TEST(Measure, TakesPausesOutOfSamplesAndLaps) {
  Contract contract;
  const Json record = record_of(contract, 0);
  if (test_world().rank() != 0) return;
  const Json& one = record["cases"][0];
  for (std::size_t rank = 0; rank <= last_rank(); ++rank) {
    EXPECT_GE(one["paused"]["by_rank"][rank][0].get<double>(), operations * 20e-6);
    const Json& laps = one["laps"]["by_rank"][rank];
    EXPECT_EQ(laps["operations"], 3 * (operations + 1));
    EXPECT_TRUE(laps["p99_s"].is_number());
    EXPECT_TRUE(laps["p999_s"].is_null()) << "of fewer than 1000 operations";
  }
  EXPECT_EQ(one["laps"]["all"]["operations"], 3 * (operations + 1) * (last_rank() + 1));
}

TEST(Measure, RepetitionsThatAreAskedForGoFirst) {
  Contract contract;
  const Json record = record_of(contract, 5);
  if (test_world().rank() != 0) return;
  EXPECT_EQ(record["cases"][0]["repetitions"], 5);
  EXPECT_EQ(record["cases"][1]["repetitions"], 1) << "a second is impossible";
}

}  // namespace
}  // namespace plumb
