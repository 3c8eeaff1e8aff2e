// A table of two tests on every number of ranks: a word that goes round the ring, in two sizes, and a barrier.
#include <gtest/gtest.h>

#include "core/data.hpp"
#include "device/device.hpp"
#include "measure/operations.hpp"
#include "measure/runner.hpp"
#include "tests/engine/ranks_fixture.hpp"

namespace plumb::operations {
namespace {

struct RingSetting {
  int rank = 0, ranks = 1;
  std::uint64_t bytes = 0;
};

// Each operation sends a message to the right and receives one from the left; alone, none. Keeps the last message.
class RingPattern : public Pattern {
 public:
  explicit RingPattern(const RingSetting& setting)
      : setting_(setting), sent_(setting.bytes), received_(setting.bytes) {}
  void reset(std::uint64_t repetition, std::uint64_t) override {
    fill_message(sent_, provenance(setting_.rank, repetition));
    poison_message(received_, provenance(left(), repetition));
  }
  void run(std::uint64_t count) override {
    World& world = test_world();
    for (std::uint64_t i = 0; i < count; ++i) {
      if (setting_.ranks == 1) {
        received_ = sent_;
        continue;
      }
      if (setting_.rank == 0) world.send(sent_, (setting_.rank + 1) % setting_.ranks);
      world.receive(received_, left());
      if (setting_.rank != 0) world.send(sent_, (setting_.rank + 1) % setting_.ranks);
    }
  }
  Validation validate(std::uint64_t repetition, std::uint64_t) override {
    Validation found;
    found.wrong_items = compare_message(received_, provenance(left(), repetition)).wrong;
    found.items_checked = received_.size();
    return found;
  }

 private:
  int left() const { return (setting_.rank + setting_.ranks - 1) % setting_.ranks; }
  Provenance provenance(int rank, std::uint64_t repetition) const {
    return {1, static_cast<std::uint64_t>(rank), 0, setting_.bytes, repetition};
  }
  RingSetting setting_;
  std::vector<std::byte> sent_, received_;
};

class BarrierPattern : public Pattern {
 public:
  void reset(std::uint64_t, std::uint64_t) override {}
  void run(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) test_world().barrier();
  }
  Validation validate(std::uint64_t, std::uint64_t) override {
    Validation found;
    found.items_checked = 1;
    return found;
  }
  Json facts() const override { return {{"completion", "a barrier"}}; }
};

class Rings : public Table<RingSetting> {
 public:
  Rings() : Table(8, 512) {
    Row word{"word", "move", "rings", 8};
    word.needs = [](const RingSetting& s) {
      Needs needs;
      needs.work.bytes_sent = needs.items_to_check = s.bytes;
      needs.fixed_count = 3;
      return needs;
    };
    word.make = [](const RingSetting& s) { return std::make_unique<RingPattern>(s); };
    Row barrier{"barrier", "order", "rings"};
    barrier.needs = [](const RingSetting& s) {
      Needs needs;
      needs.items_to_check = 1;
      needs.fixed_count = 2;
      needs.count_multiple = static_cast<std::uint64_t>(s.ranks);
      return needs;
    };
    barrier.make = [](const RingSetting&) { return std::make_unique<BarrierPattern>(); };
    Row missing = barrier;
    missing.name = "missing";
    missing.missing = "no library has it";
    tests_ = {{"ring", "latency", {word}}, {"orders", "order", {barrier, missing}}};
  }
  std::string name() const override { return "rings"; }
  std::string title() const override { return "a table"; }
  std::string source() const override { return "a test"; }
  Preset preset(const std::string&) const override { return {}; }
  std::vector<Group> groups(const Plan& plan) const override {
    std::vector<Group> groups;
    for (const Test& test : tests_) groups.push_back(group_of(test, plan, {8, 512}, "", Json::object()));
    return groups;
  }
  std::vector<Metric> metrics(const CaseResult& result, int) const override {
    return {{"bytes", static_cast<double>(point_of(*result.measured).bytes), "B", "of the case's payload"}};
  }

 protected:
  RingSetting setting(const Plan& plan, const Point& point) const override {
    return {plan.rank, plan.ranks, point.bytes};
  }
};

TEST(OperationTable, RunsOnEveryNumberOfRanks) {
  World& world = test_world();
  Rings rings;
  const auto runtime = Registry<RuntimeFactory>::instance().find("native")->operator()();
  const auto device = runtime->open(runtime->infos().front());
  Session session{world, *device, nullptr, {}};
  RunSettings settings;
  settings.policy.fixed = 2;
  settings.synchronise_by_clock = false;
  const auto listener = make_listener("none");
  const Plan plan{world.rank(), world.size(), 1};
  const Json record =
      run_benchmark(rings, rings.groups(plan), session, settings, gather_places(world), Json::object(), "", *listener)
          .record;
  if (world.rank() != 0) return;
  const Json& cases = record["cases"];
  ASSERT_EQ(cases.size(), 4u);
  const char* const keys[]{"ring/8", "ring/512", "orders/barrier", "orders/missing"};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(cases[i]["key"], keys[i]);
    EXPECT_EQ(cases[i]["outcome"]["status"], i < 3 ? "passed" : "unsupported") << cases[i]["outcome"].dump();
  }
  EXPECT_EQ(cases[1]["metrics"][0]["value"], 512);
  EXPECT_EQ(cases[1]["labels"], (Json{{"test", "ring"}, {"kind", "latency"}, {"bytes", 512}}));
  EXPECT_EQ(cases[2]["facts"]["completion"], "a barrier");
}

}  // namespace
}  // namespace plumb::operations
