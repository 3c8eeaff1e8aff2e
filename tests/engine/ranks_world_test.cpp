#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "measure/clock.hpp"
#include "measure/host.hpp"
#include "measure/start.hpp"
#include "tests/engine/ranks_fixture.hpp"
#include "world/collect.hpp"

namespace plumb {
namespace {

TEST(World, KnowsWhoTakesPart) {
  World& world = test_world();
  EXPECT_TRUE(world.info().kind == "mpi" || world.info().kind == "shmem");
  EXPECT_FALSE(world.info().library.empty());
  EXPECT_EQ(world.info().library.find('\n'), std::string::npos);
  EXPECT_EQ(world.local_size(), world.size()) << "the tests run on one host";
  EXPECT_EQ(world.local_rank(), world.rank());
}

TEST(World, GathersPartsOfAnyLength) {
  World& world = test_world();
  const int root = world.size() - 1;
  const auto texts = gather_texts(world, std::string(static_cast<std::size_t>(world.rank() * 3), 'r'), root);
  ASSERT_EQ(texts.size(), world.rank() == root ? static_cast<std::size_t>(world.size()) : 0u);
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i].size(), i * 3);
}

TEST(World, BroadcastsTexts) {
  World& world = test_world();
  EXPECT_EQ(broadcast_text(world, world.rank() == 0 ? "from zero" : "mine"), "from zero");
  EXPECT_EQ(broadcast_text(world, ""), "");
}

TEST(World, AgreesOnTheFirstProblem) {
  World& world = test_world();
  EXPECT_EQ(first_text(world, "").rank, -1);
  const AgreedText agreed = first_text(world, world.rank() == world.size() - 1 ? "broken" : "");
  EXPECT_EQ(agreed.rank, world.size() - 1);
  EXPECT_EQ(agreed.text, "broken");
}

TEST(World, PlacesAreByRank) {
  World& world = test_world();
  const Places places = gather_places(world);
  if (world.rank() != 0) return;
  EXPECT_EQ(places.hosts.size(), 1u);
  ASSERT_EQ(places.ranks.size(), static_cast<std::size_t>(world.size()));
  for (int rank = 0; rank < world.size(); ++rank) EXPECT_EQ(places.ranks[static_cast<std::size_t>(rank)].rank, rank);
}

// All ranks of a host read one clock, so whatever offset is estimated is the estimate's own error. The bound is loose:
// the ranks may share cores, and then a ping-pong takes as long as a time slice.
TEST(CommonClock, AgreesWithTheClockThatIsInTruthShared) {
  World& world = test_world();
  CommonClock clock(world);
  for (int i = 0; i < 3; ++i) clock.synchronise();
  EXPECT_LT(std::fabs(clock.offset()), 20e-3);
  EXPECT_EQ(world.rank() == 0 ? clock.offset() : 0.0, 0.0);
  const double there = clock.to_local(clock.to_common(123.5));
  EXPECT_NEAR(there, 123.5, 1e-9);
  const auto residuals = clock.residuals();
  if (world.rank() == 0) {
    ASSERT_EQ(residuals.size(), static_cast<std::size_t>(world.size()));
    for (const double residual : residuals) EXPECT_LT(std::fabs(residual), 20e-3);
  }
}

TEST(SynchronisedStart, StartsTogetherAndSaysWhoWasLate) {
  World& world = test_world();
  for (const bool by_clock : {true, false}) {
    SynchronisedStart start(world, by_clock, true);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(start.start(""), "");
      const char late = start.late() ? 1 : 0;
      const auto all = gather_values(world, late);
      start.adapt(std::any_of(all.begin(), all.end(), [](char l) { return l != 0; }));
      EXPECT_TRUE(by_clock || !start.late());
    }
    EXPECT_EQ(start.starts(), 20u);
  }
}

TEST(SynchronisedStart, OneRanksProblemStopsAll) {
  World& world = test_world();
  SynchronisedStart start(world, true, true);
  EXPECT_EQ(start.start(world.rank() == world.size() - 1 ? "no memory" : ""), "no memory");
  EXPECT_EQ(start.start(""), "");
}

}  // namespace
}  // namespace plumb
