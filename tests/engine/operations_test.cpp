// Tables of operations: sizes, names, and a table of two rows.
#include "measure/operations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/refusal.hpp"

namespace plumb::operations {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OperationSizes, Grow) {
  EXPECT_THAT(growing_sizes(8, 64, 2), ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(growing_sizes(8, 100, 4), ElementsAre(8, 32));
  EXPECT_EQ(growing_sizes(8, 16777216, 2).size(), 22u);  // SHOMS'
}

TEST(OperationNames, ArePickedByNameBeginningOrPattern) {
  const std::vector<std::string> known{"int_put", "int_put_nbi", "long_get", "barrier_all"};
  EXPECT_EQ(names_picked("", known), known);
  EXPECT_THAT(names_picked("int_put", known), ElementsAre("int_put"));
  EXPECT_THAT(names_picked("int_p", known), ElementsAre("int_put", "int_put_nbi"));
  EXPECT_THAT(names_picked("*_get,barrier_all", known), ElementsAre("long_get", "barrier_all"));
  EXPECT_THAT(refusal([&] { names_picked("int_gut", known); }), HasSubstr("int_gut"));
  EXPECT_NE(refusal([&] { names_picked(",", known); }), "");
}

struct ToySetting {
  int ranks = 1;
  std::uint64_t bytes = 0;
};

class ToyPattern : public Pattern {
 public:
  void reset(std::uint64_t, std::uint64_t) override {}
  void run(std::uint64_t) override {}
  Validation validate(std::uint64_t, std::uint64_t count) override {
    Validation found;
    found.items_checked = count;
    return found;
  }
};

class Toy : public Table<ToySetting> {
 public:
  Toy() : Table(4, 16) {
    Row sized{"word", "move", "toy", 8}, plain{"barrier", "order", "toy"};
    sized.needs = [](const ToySetting& s) {
      Needs needs;
      needs.work.bytes_sent = s.bytes;
      needs.items_to_check = 1;
      needs.symmetric_bytes = 2 * s.bytes;
      return needs;
    };
    plain.needs = [](const ToySetting& s) {
      Needs needs;
      needs.items_to_check = 1;
      needs.once = true;
      needs.count_multiple = static_cast<std::uint64_t>(s.ranks);
      return needs;
    };
    sized.make = plain.make = [](const ToySetting&) { return std::make_unique<ToyPattern>(); };
    Row broken = plain;
    broken.name = "broken";
    broken.fault = "it hangs";
    tests_ = {{"toy_word", "latency", {sized}}, {"toy_orders", "order", {plain, broken}}};
  }
  std::string name() const override { return "toy"; }
  std::string title() const override { return "toy"; }
  std::string source() const override { return "none"; }
  Preset preset(const std::string&) const override { return {}; }
  std::vector<Group> groups(const Plan& plan) const override {
    std::vector<Group> groups;
    for (const Test& test : tests_) groups.push_back(group_of(test, plan, swept_sizes(), "", Json::object()));
    return groups;
  }
  std::vector<Metric> metrics(const CaseResult&, int) const override { return {}; }
  using Table::hindrance;
  const Test& test(std::size_t i) const { return tests_[i]; }
  static std::uint64_t bytes(const Case& one) { return point_of(one).bytes; }

 protected:
  ToySetting setting(const Plan& plan, const Point& point) const override { return {plan.ranks, point.bytes}; }
};

TEST(OperationTable, HasACaseForEachSizeAndRow) {
  const Toy toy;
  const std::vector<Group> groups = toy.groups({0, 3, 1});
  ASSERT_EQ(groups.size(), 2u);
  ASSERT_EQ(groups[0].cases.size(), 2u);  // not of 4 bytes, which hold no element
  EXPECT_EQ(groups[0].cases[1].key, "toy_word/16");
  EXPECT_EQ(groups[0].cases[1].work.bytes_sent, 16u);
  EXPECT_EQ(groups[0].symmetric_bytes, 32u);
  EXPECT_EQ(Toy::bytes(groups[0].cases[1]), 16u);
  ASSERT_EQ(groups[1].cases.size(), 2u);
  EXPECT_EQ(groups[1].cases[0].key, "toy_orders/barrier");
  EXPECT_EQ(groups[1].cases[0].policy.kind, CasePolicy::Kind::once);
  EXPECT_EQ(groups[1].cases[1].items_to_check, 0u);  // it cannot be run
  EXPECT_THAT(toy.hindrance(toy.test(1).rows[1]), HasSubstr("--known-faults"));
}

TEST(OperationTable, RefusesACaseOfAnother) {
  Case foreign;
  EXPECT_NE(refusal([&] { (void)Toy::bytes(foreign); }), "");
  foreign.payload = Payload(std::string("of another type"));
  EXPECT_NE(refusal([&] { (void)Toy::bytes(foreign); }), "");
}

}  // namespace
}  // namespace plumb::operations
