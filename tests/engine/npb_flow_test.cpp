// The flow of BT, SP and LU on one rank: its cut into tiles, official norms, and steps beside the serial solver.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "benchmarks/shmem/npb/flow_benchmark.hpp"

namespace plumb::npb {
namespace {

const Parts just_run = [](std::size_t, const std::function<void()>& work) { work(); };

WholeField field_of(Flow& flow) {
  WholeField field(flow.scheme().n);
  for (const Tile& tile : flow.tiles()) tile.box().for_each([&](const Place& at) { field.at(at) = tile.state(at); });
  return field;
}

TEST(NpbTiling, GivesEachRankItsShareOfEachSlabAndOneNeighbour) {
  for (int ranks = 1; ranks <= 36; ++ranks) {
    const Tiling tiling(Cut::diagonal, 80, ranks);
    for (std::size_t d = 0; d < 3; ++d)
      for (int rank = 0; rank < ranks; ++rank) {
        std::vector<int> in_slab(static_cast<std::size_t>(tiling.tiles()[d]));
        std::set<int> next;
        for (Place place : tiling.tiles_of(rank)) {
          ++in_slab[static_cast<std::size_t>(place[d])];
          ++place[d];
          if (tiling.contains(place)) next.insert(tiling.owner(place));
        }
        EXPECT_EQ(std::set<int>(in_slab.begin(), in_slab.end()).size(), 1u) << ranks << " ranks, direction " << d;
        EXPECT_EQ(next.size(), in_slab.size() > 1 ? 1u : 0u) << ranks << " ranks, direction " << d;
      }
  }
}

TEST(NpbTiling, CoversTheCubeOnce) {
  for (const Cut cut : {Cut::diagonal, Cut::pencils})
    for (int ranks = 1; ranks <= 12; ++ranks) {
      const int n = 25;
      const Tiling tiling(cut, n, ranks);
      std::vector<int> owners(n * n * n);
      for (int rank = 0; rank < ranks; ++rank)
        for (const Place& place : tiling.tiles_of(rank)) {
          tiling.box(place).for_each(
              [&](const Place& at) { ++owners[static_cast<std::size_t>((at[2] * n + at[1]) * n + at[0])]; });
        }
      EXPECT_EQ(std::set<int>(owners.begin(), owners.end()), std::set<int>{1}) << ranks << " ranks";
    }
}

TEST(NpbTiling, HasALargestNumberOfRanks) {
  EXPECT_EQ(most_ranks(Cut::diagonal, 12, 7), 6);
  EXPECT_EQ(most_ranks(Cut::diagonal, 12, 100), 36);
  EXPECT_EQ(most_ranks(Cut::pencils, 12, 13), 12);
  EXPECT_TRUE(Tiling(Cut::diagonal, 12, 9).fits());
  EXPECT_FALSE(Tiling(Cut::pencils, 12, 7).fits());
}

class NpbFlow : public ::testing::TestWithParam<Method> {
 protected:
  static std::unique_ptr<Flow> make(int n, double dt) {
    auto flow = flow_kind(GetParam()).make(Scheme(n, dt), 1, 0);
    flow->begin();
    flow->restart();
    flow->open(nullptr, 1000);
    return flow;
  }
};

TEST_P(NpbFlow, ReachesTheOfficialNorms) {
  const ClassRow row = classes_of(flow_kind(GetParam()).facts.name).front();
  const auto flow = make(static_cast<int>(row.size), row.dt);
  for (int step = 0; step < row.iterations; ++step) flow->step(just_run);
  const Norms norms = norms_of(field_of(*flow));
  for (std::size_t m = 0; m < 5; ++m) {
    EXPECT_NEAR(norms.residual[m] / row.official[m], 1, 1e-8);
    EXPECT_NEAR(norms.error[m] / row.official[5 + m], 1, 1e-8);
  }
  if (row.official.size() > 10) {
    EXPECT_NEAR(norms.integral / row.official[10], 1, 1e-8);
  }
}

TEST_P(NpbFlow, TakesTheSerialSolversSteps) {
  for (const int n : {6, 7, 11}) {
    const auto flow = make(n, .005);
    WholeField plain = field_of(*flow);
    EXPECT_NEAR(plain.at({2, 3, 4})[4], plain_start(n, {2, 3, 4})[4], 1e-12 * std::abs(plain.at({2, 3, 4})[4]));
    for (int step = 0; step < 3; ++step) {
      flow->step(just_run);
      plain_step(GetParam(), .005, plain);
      const WholeField is = field_of(*flow);
      double worst = 0, largest = 0;
      for (std::size_t i = 0; i < plain.points().size(); ++i)
        for (std::size_t m = 0; m < 5; ++m) {
          worst = std::max(worst, std::abs(is.points()[i][m] - plain.points()[i][m]));
          largest = std::max(largest, std::abs(plain.points()[i][m]));
        }
      EXPECT_LT(worst, 1e-12 * largest) << n << " points, step " << step;
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<Method>& method) {
  return flow_kind(method.param).facts.name.substr(4);
}

INSTANTIATE_TEST_SUITE_P(Methods, NpbFlow, ::testing::Values(Method::bt, Method::sp, Method::lu), name_of);

}  // namespace
}  // namespace plumb::npb
