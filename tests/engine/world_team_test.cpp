// The team of a world of one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/refusal.hpp"
#include "world/team.hpp"

namespace plumb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SerialTeam, DoesWhatATeamOfOneDoes) {
  const auto world = make_serial_world();
  const auto team = world->team({0});
  EXPECT_TRUE(team->is_member());
  team->barrier();
  EXPECT_EQ(team->all_reduce(7, Fold::sum), 7);
  EXPECT_EQ(team->all_reduce(Located<double>{1.5, 3}, Fold::minimum), (Located<double>{1.5, 3}));
  const std::vector<int> sent{1, 2, 3};
  std::vector<int> received(3);
  const std::vector<std::size_t> counts{3};
  team->all_to_all(std::span(sent), counts, std::span(received), counts);
  EXPECT_EQ(received, sent);
  std::vector<int> all(3);
  team->all_gather(std::span(sent), std::span(all), counts);
  EXPECT_EQ(all, sent);
  int value = 5;
  team->broadcast(std::as_writable_bytes(std::span(&value, 1)), 0);
  EXPECT_EQ(value, 5);
  EXPECT_EQ(team->gather(std::as_bytes(std::span(&value, 1)), 0).size(), 1u);
  EXPECT_EQ(team->facts(1), Json({{"ranks", {0}}, {"idle", Json::array()}}));
}

TEST(SerialTeam, RefusesWhatIsNone) {
  const auto world = make_serial_world();
  EXPECT_THAT(refusal([&] { world->team({}); }), HasSubstr("a team must have a rank"));
  EXPECT_THAT(refusal([&] { world->team({0, 0}); }), HasSubstr("named twice"));
  EXPECT_THAT(refusal([&] { world->team({1}); }), HasSubstr("is not in the world"));
  const auto team = world->team({0});
  EXPECT_THAT(refusal([&] { team->all_reduce(Located<float>{}, Fold::sum); }), HasSubstr("a sum has no place"));
}

TEST(SquareGrid, IsTheLargestThatTheWorldHas) {
  EXPECT_THAT(square_grid(1), ElementsAre(0));
  EXPECT_THAT(square_grid(3), ElementsAre(0));
  EXPECT_THAT(square_grid(4), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(square_grid(24).size(), 16u);
}

}  // namespace
}  // namespace plumb
