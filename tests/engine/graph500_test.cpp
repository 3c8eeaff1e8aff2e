// Graph500's generator, its counts, its statistics, and how levels are found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/shmem/graph500/graph500.hpp"

namespace plumb::graph500 {
namespace {

using ::testing::ElementsAre;

TEST(Graph500Random, SkipsAsItSteps) {
  const Random start(2, 3);
  Random stepped = start;
  for (std::uint64_t steps = 0; steps < 300; ++steps) {
    EXPECT_EQ(start.skipped(0, 0, steps).state(), stepped.state());
    stepped.draw();
  }
  EXPECT_EQ(start.skipped(0, 0, 123456789).skipped(0, 0, 987654321).state(), start.skipped(0, 0, 1111111110).state());
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  EXPECT_EQ(start.skipped(0, 0, half).skipped(0, 0, half).state(), start.skipped(0, 1, 0).state());
  EXPECT_EQ(start.skipped(0, half, 0).skipped(0, half, 0).state(), start.skipped(1, 0, 0).state());
}

TEST(Graph500Random, NumbersAreBelowOneAndNeverNegative) {
  Random random(7, 8);
  for (int i = 0; i < 1000; ++i) {
    const double number = random.number();
    EXPECT_GE(number, 0);
    EXPECT_LT(number, 1);
  }
}

TEST(Graph500Generator, MakesAnyRangeAlike) {
  for (const bool old : {false, true}) {
    const Generator generator({10, 4, 2, 3, old});
    std::vector<Edge> all(4096);
    std::vector<float> weights(4096);
    generator.make({0, 4096}, all, weights);
    for (const EdgeRange& range : {EdgeRange{0, 1}, EdgeRange{17, 100}, EdgeRange{4095, 1}}) {
      std::vector<Edge> some(range.count);
      std::vector<float> of_some(range.count);
      generator.make(range, some, of_some);
      for (std::size_t i = 0; i < range.count; ++i) {
        EXPECT_EQ(some[i], all[range.first + i]);
        EXPECT_EQ(of_some[i], weights[range.first + i]);
        EXPECT_LT(some[i].from, 1024u);
        EXPECT_LT(some[i].to, 1024u);
      }
    }
  }
}

TEST(Graph500Generator, SharesAreTheList) {
  for (const int ranks : {1, 2, 3, 7}) {
    std::uint64_t next = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const EdgeRange share = share_of(100, rank, ranks);
      EXPECT_EQ(share.first, next);
      next += share.count;
    }
    EXPECT_EQ(next, 100u);
  }
}

// Reference 3.0's number of edges in the component of all 64 roots, with seeds 2 and 3.
TEST(Graph500Generator, HasTheReferencesEdges) {
  const auto edges_of_component = [](int scale) {
    const GraphPlan plan{scale};
    std::vector<Edge> edges(plan.edges());
    const Generator generator(plan);
    generator.make({0, plan.edges()}, edges);
    const auto has_edges = [&](Vertex vertex) {
      return std::any_of(edges.begin(), edges.end(), [&](const Edge& edge) {
        return !edge.is_loop() && (edge.from == vertex || edge.to == vertex);
      });
    };
    std::uint64_t candidate = 0;
    while (!has_edges(generator.root_candidate(candidate))) ++candidate;
    const Vertex root = generator.root_candidate(candidate);
    std::vector<bool> reached(plan.vertices());
    reached[root] = true;
    for (bool grows = true; grows;) {
      grows = false;
      for (const Edge& edge : edges)
        if (reached[edge.from] != reached[edge.to]) grows = reached[edge.from] = reached[edge.to] = true;
    }
    std::uint64_t count = 0;
    for (const Edge& edge : edges) count += reached[edge.from] && !edge.is_loop() ? 1 : 0;
    return count;
  };
  EXPECT_EQ(edges_of_component(8), 4011u);
  EXPECT_EQ(edges_of_component(10), 16239u);
  EXPECT_EQ(edges_of_component(12), 65327u);
}

TEST(Graph500Layout, EachVertexIsOneRanks) {
  for (const std::uint64_t vertices : {2u, 64u, 256u, 1024u})
    for (const int ranks : {1, 2, 3, 4, 7, 8}) {
      std::uint64_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const Layout layout(vertices, rank, ranks);
        EXPECT_EQ(layout.first(), next);
        for (Vertex vertex = layout.first(); vertex < layout.first() + layout.count(); ++vertex) {
          EXPECT_EQ(layout.owner(vertex), rank);
          EXPECT_TRUE(layout.is_mine(vertex));
        }
        next += layout.count();
      }
      EXPECT_EQ(next, vertices);
    }
}

TEST(Graph500Levels, FollowParentsToTheRoot) {
  EXPECT_THAT(levels_of(2, std::vector<Parent>{1, 2, 2, -1, 0}), ElementsAre(2, 1, 0, no_level, 3));
}

TEST(Graph500Levels, AreNoneWhereParentsLeadElsewhere) {
  // A circle of two, one that hangs on it, its own parent, one under an unreached vertex, two out of range.
  EXPECT_THAT(levels_of(0, std::vector<Parent>{0, 2, 1, 1, 4, 6, -1, 99, -5, 0}),
              ElementsAre(0, wrong_level, wrong_level, wrong_level, wrong_level, wrong_level, no_level, wrong_level,
                          wrong_level, 1));
  EXPECT_THAT(levels_of(0, std::vector<Parent>{1, 0}), ElementsAre(wrong_level, wrong_level));
  EXPECT_THAT(levels_of(0, std::vector<Parent>{-1, 0}), ElementsAre(no_level, wrong_level));
}

// By hand: t/m of 1, 2, 3, 4 and 10 s.
TEST(Graph500Statistics, AreTheReferences) {
  const Statistics times = statistics_of({10, 2, 1, 4, 3});
  EXPECT_EQ(times.minimum, 1);
  EXPECT_EQ(times.first_quartile, 2);
  EXPECT_EQ(times.median, 3);
  EXPECT_EQ(times.third_quartile, 4);
  EXPECT_EQ(times.maximum, 10);
  EXPECT_EQ(times.mean, 4);
  EXPECT_NEAR(times.deviation, std::sqrt(50.0 / 4), 1e-12);
  const Statistics rates = rates_of({10, 2, 1, 4, 3});
  EXPECT_EQ(rates.mean, 0.25);
  EXPECT_NEAR(rates.deviation, std::sqrt(50.0 / 4) / 16 / 2, 1e-12);
  EXPECT_EQ(rates.minimum, 0.1);
  EXPECT_EQ(rates.first_quartile, 0.25);
  EXPECT_EQ(rates.maximum, 1);
  EXPECT_EQ(statistics_of({1, 2}).first_quartile, 1);
  EXPECT_EQ(statistics_of({1, 2, 3, 4}).median, 2.5);
}

}  // namespace
}  // namespace plumb::graph500
