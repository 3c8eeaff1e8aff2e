// HPL's arithmetic on one process: layout of blocks, row interchanges, broadcasts' links, HPL's numbers.
#include "benchmarks/hpcc/hpl/hpl.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

#include "tests/engine/refusal.hpp"
#include "transport/transport.hpp"
#include "world/team.hpp"

namespace plumb::hpl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(HplLayout, DealsEveryIndexToOneTaker) {
  for (const std::size_t n : {1, 7, 64, 65, 203})
    for (const std::size_t block : {1, 13, 64, 300})
      for (const std::size_t parts : {1, 2, 3, 5}) {
        std::size_t total = 0;
        for (std::size_t own = 0; own < parts; ++own) {
          const Dealt dealt{n, block, parts, own};
          total += dealt.count();
          for (std::size_t local = 0; local < dealt.count(); ++local) {
            const std::size_t global = dealt.global(local);
            ASSERT_LT(global, n);
            ASSERT_EQ(dealt.owner(global), own);
            ASSERT_EQ(dealt.below(global), local);
            ASSERT_EQ(dealt.below(global + 1), local + 1);
          }
        }
        ASSERT_EQ(total, n);
      }
}

TEST(HplLayout, AStepSaysWhereItsBlockLies) {
  const Layout layout = make_layout(100, 16, 2, 3, 4);  // row 1, column 1 of the grid
  const Step step = make_step(layout, 4);               // owned by row 0, column 1
  EXPECT_TRUE(step.in_column);
  EXPECT_FALSE(step.in_row);
  EXPECT_EQ(step.begin, 64u);
  EXPECT_EQ(step.row, step.below) << "no row of the block is here";
  EXPECT_EQ(step.row, 32u) << "blocks 1 and 3 are above it";
  EXPECT_EQ(step.column, 16u);
  EXPECT_EQ(step.right, 32u);
  EXPECT_EQ(make_step(layout, 6).width, 4u) << "the last is narrower";
}

TEST(HplLayout, NamesTheGridsOfSoManyRanks) {
  EXPECT_EQ(grid_text(6), "2 x 3, 3 x 2, 1 x 6, 6 x 1");
  EXPECT_EQ(grid_text(4), "2 x 2, 1 x 4, 4 x 1");
  EXPECT_EQ(grid_text(5), "1 x 5, 5 x 1");
}

TEST(HplInterchange, IsWhatOneExchangeAfterTheOtherComesTo) {
  std::mt19937 random(1);
  for (int turn = 0; turn < 200; ++turn) {
    Step step;
    step.begin = 8;
    step.width = 5;
    std::vector<std::int64_t> pivots;
    std::vector<std::size_t> rows(30);
    std::iota(rows.begin(), rows.end(), 0);
    for (std::size_t j = 0; j < step.width; ++j) {
      pivots.push_back(static_cast<std::int64_t>(step.begin + j + random() % (turn % 2 == 0 ? 8 : 17 - j)));
      std::swap(rows[step.begin + j], rows[static_cast<std::size_t>(pivots.back())]);
    }
    const Interchange moves = interchange(step, pivots);
    std::vector<std::size_t> found(30);
    std::iota(found.begin(), found.end(), 0);
    for (std::size_t i = 0; i < step.width; ++i) found[step.begin + i] = moves.top[i];
    for (const auto& move : moves.displaced) {
      EXPECT_GE(move.to, step.begin + step.width);
      EXPECT_LT(move.from, step.begin + step.width);
      found[move.to] = move.from;
    }
    ASSERT_EQ(found, rows) << "turn " << turn;
  }
}

TEST(HplBroadcast, ReachesEveryPlaceOnceAndFromOneThatHasIt) {
  for (const Way way : {Way::ring, Way::torus, Way::tree})
    for (int length = 1; length <= 9; ++length)
      for (int root = 0; root < length; ++root) {
        std::vector<int> from(static_cast<std::size_t>(length), -1);
        std::size_t sent = 0;
        for (int place = 0; place < length; ++place)
          for (const int to : links(way, place, root, length).to) {
            EXPECT_EQ(links(way, to, root, length).from, place);
            from[static_cast<std::size_t>(to)] = place;
            ++sent;
          }
        EXPECT_EQ(sent, static_cast<std::size_t>(length - 1));
        EXPECT_EQ(links(way, root, root, length).from, -1);
        for (int place = 0; place < length; ++place) {
          int at = place, hops = 0;
          while (at != root && hops++ < length) at = from[static_cast<std::size_t>(at)];
          EXPECT_EQ(at, root);
          EXPECT_LE(hops, way == Way::ring ? length - 1 : 4) << "half of nine, or their binary digits";
        }
      }
}

class HplNumbers : public ::testing::Test {
 protected:
  Matrix matrix(Kind kind, ScalarType type, std::size_t n) {
    return {kind, type, 100, make_layout(n, 4, 1, 1, 0), *team_};
  }
  std::unique_ptr<World> world_ = make_serial_world();
  std::unique_ptr<Team> team_ = world_->team({0});
};

// One after the other, as HPL's generator makes them: down the columns, b last.
TEST_F(HplNumbers, AreHplsWhateverTheOrderInWhichTheyAreMade) {
  constexpr std::size_t n = 11;
  const Matrix made = matrix(Kind::general, ScalarType::f64, n);
  std::uint64_t word = 100;
  std::vector<double> row(n);
  for (std::size_t j = 0; j <= n; ++j)
    for (std::size_t i = 0; i < n; ++i) {
      word = 6364136223846793005ull * word + 1;
      const auto low = static_cast<double>(word & 0xffffffff), high = static_cast<double>(word >> 32);
      const double should = 0.5 - (low / 2147483648.0 * 0.5 + high) / 2147483648.0 * 0.5;
      made.row(i, row);
      ASSERT_EQ(j < n ? row[j] : made.right_hand_side(i), should) << i << ", " << j;
    }
}

TEST_F(HplNumbers, OfADominantMatrixAreExactInFloatAndItsSolutionIsOne) {
  constexpr std::size_t n = 50;
  const Matrix made = matrix(Kind::dominant, ScalarType::f32, n);
  std::vector<double> row(n);
  for (std::size_t i = 0; i < n; ++i) {
    made.row(i, row);
    double others = 0;
    for (std::size_t j = 0; j < n; ++j) {
      EXPECT_EQ(row[j], static_cast<double>(static_cast<float>(row[j])));
      others += j == i ? 0 : std::abs(row[j]);
    }
    EXPECT_GT(row[i], others);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    EXPECT_EQ(made.right_hand_side(i), static_cast<double>(static_cast<float>(sum)));
  }
}

TEST_F(HplNumbers, AResidualTellsASolutionFromWhatIsNearlyOne) {
  constexpr std::size_t n = 60;
  const Layout layout = make_layout(n, 8, 1, 1, 0);
  Teams teams;
  teams.row = world_->team({0});
  teams.column = world_->team({0});
  const Matrix made(Kind::dominant, ScalarType::f64, 100, layout, *teams.row);
  std::vector<double> x(n, 1.0);
  Residual found = residual(made, layout, ScalarType::f64, x, teams);
  EXPECT_LT(found.scaled, 1e-3);
  EXPECT_LT(found.largest_row, 1);
  EXPECT_EQ(found.normalised_error, 0);
  EXPECT_EQ(found.rows, n);
  x[17] += 1e-12;
  found = residual(made, layout, ScalarType::f64, x, teams);
  EXPECT_GT(found.largest_row, 100);
  EXPECT_EQ(found.worst_row, 17);
  EXPECT_GT(found.normalised_error, 0);
  x[17] = std::numeric_limits<double>::quiet_NaN();
  found = residual(made, layout, ScalarType::f64, x, teams);
  EXPECT_GT(found.scaled, hpl_threshold);
}

TEST(HplFlops, AreNotMixed) {
  EXPECT_EQ(lu_flops(6), 126);
  EXPECT_EQ(solve_flops(6), 72);
  EXPECT_EQ(hpl_flops(6), 198);
}

TEST(HplOptions, AreRefusedInASentence) {
  const auto refused = [](const std::string& name, const std::string& value, int ranks) {
    Hpl hpl;
    hpl.find(name)->parse(value);
    return refusal([&] { hpl.check({0, ranks, 1}); });
  };
  EXPECT_THAT(refused("grid", "2x2", 6),
              HasSubstr("--grid 2x2 needs 4 ranks, but there are 6: grids of so many are 2 x 3, 3 x 2, 1 x 6, 6 x 1"));
  EXPECT_THAT(refused("grid", "2by3", 6), HasSubstr("such as 2x3, not \"2by3\""));
  EXPECT_THAT(refused("grid", "2x3x", 6), HasSubstr("such as 2x3"));
  EXPECT_THAT(refused("grid", "0x6", 6), HasSubstr("such as 2x3"));
  EXPECT_THAT(refused("size", "128", 2), HasSubstr("makes 1 block row, but a grid of 1 x 2 needs 2"));
  EXPECT_EQ(refused("size", "129", 2), "");
}

}  // namespace
}  // namespace plumb::hpl
