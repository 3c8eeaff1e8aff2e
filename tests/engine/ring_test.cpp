#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "benchmarks/hpcc/b_eff/ring.hpp"

namespace plumb::b_eff {
namespace {

TEST(Ring, RandomOrderIsASeededPermutation) {
  for (const int ranks : {1, 2, 3, 7, 64}) {
    const auto order = random_ring(ranks, 5);
    EXPECT_EQ(order, random_ring(ranks, 5));
    EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), static_cast<std::size_t>(ranks));
  }
  EXPECT_NE(random_ring(64, 5), random_ring(64, 6));
  EXPECT_NE(random_ring(64, 5), natural_ring(64));
}

TEST(Ring, NeighboursAgree) {
  const auto order = random_ring(5, 3);
  for (int rank = 0; rank < 5; ++rank) {
    const Place place = place_in(order, rank);
    EXPECT_EQ(place.at(0), rank);
    EXPECT_EQ(place_in(order, place.right()).left(), rank);
    EXPECT_EQ(place.at(-5), rank);
    EXPECT_EQ(place.at(7), place.at(2));
  }
  EXPECT_EQ(place_in(natural_ring(1), 0).right(), 0);
}

// max(u - max(0, i - o) * (u - l) / d, l) with u = 65536, l = 256, o = 11, d = 7.
TEST(Ring, LoopFormulaIsThePredecessors) {
  const LoopFormula formula;
  EXPECT_EQ(formula.length(0), 65536u);
  EXPECT_EQ(formula.length(11), 65536u);
  EXPECT_EQ(formula.length(12), 65536u - 65280u / 7);
  EXPECT_EQ(formula.length(18), 256u);
  EXPECT_EQ(formula.length(30), 256u);
  EXPECT_EQ((LoopFormula{128, 16, 11, 7}.length(14)), 128u - 3 * 112u / 7);
}

}  // namespace
}  // namespace plumb::b_eff
