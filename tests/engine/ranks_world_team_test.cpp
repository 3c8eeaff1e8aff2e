// Teams of every world, on any number of ranks: each collective against plain arithmetic on the members' input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

#include "measure/clock.hpp"
#include "tests/engine/ranks_fixture.hpp"
#include "tests/engine/refusal.hpp"
#include "world/collect.hpp"
#include "world/team.hpp"

namespace plumb {
namespace {

using ::testing::HasSubstr;

std::vector<int> all_backwards() {
  std::vector<int> ranks(static_cast<std::size_t>(test_world().size()));
  std::iota(ranks.rbegin(), ranks.rend(), 0);
  return ranks;
}

// The ranks as even as this one, or as odd.
std::vector<int> every_second() {
  std::vector<int> ranks;
  for (int rank = test_world().rank() % 2; rank < test_world().size(); rank += 2) ranks.push_back(rank);
  return ranks;
}

// Element i of member `place`: of either sign, all distinct.
template <class T>
T given(int place, std::size_t i) {
  const auto value = static_cast<double>((i * 7 + static_cast<std::size_t>(place) * 13) % 31) + 32 * place;
  return static_cast<T>(std::is_signed_v<T> ? value - 40 : value);
}

template <class T>
void check_reductions(Team& team) {
  constexpr std::size_t length = 3000;  // more than a piece of the mailbox
  for (const Fold reduction : {Fold::sum, Fold::minimum, Fold::maximum}) {
    std::vector<T> values(length);
    for (std::size_t i = 0; i < length; ++i) values[i] = given<T>(team.rank(), i);
    team.all_reduce(std::span(values), reduction);
    for (std::size_t i = 0; i < length; ++i) {
      T should = given<T>(0, i);
      for (int place = 1; place < team.size(); ++place) {
        const T more = given<T>(place, i);
        should = reduction == Fold::sum       ? static_cast<T>(should + more)
                 : reduction == Fold::minimum ? std::min(should, more)
                                              : std::max(should, more);
      }
      ASSERT_EQ(values[i], should) << "element " << i;
    }
  }
}

TEST(Team, KnowsItsMembersInItsOrder) {
  World& world = test_world();
  const auto team = test_world().team(all_backwards());
  EXPECT_EQ(team->size(), world.size());
  EXPECT_EQ(team->rank(), world.size() - 1 - world.rank());
  EXPECT_EQ(team->ranks()[static_cast<std::size_t>(team->rank())], world.rank());
  team->barrier();
}

TEST(Team, BroadcastsFromEachMember) {
  const auto team = test_world().team(all_backwards());
  for (const std::size_t length : {1u, 100u, 20000u})
    for (int root = 0; root < team->size(); ++root) {
      std::vector<int> values(length, team->rank());
      team->broadcast(std::as_writable_bytes(std::span(values)), root);
      ASSERT_EQ(values, std::vector<int>(length, root));
    }
}

TEST(Team, GathersPartsOfAnyLength) {
  const auto team = test_world().team(all_backwards());
  const std::vector<std::byte> mine(static_cast<std::size_t>(team->rank()) * 3, std::byte(team->rank()));
  const auto parts = team->gather(mine, team->size() - 1);
  ASSERT_EQ(parts.size(), team->rank() == team->size() - 1 ? static_cast<std::size_t>(team->size()) : 0u);
  for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_EQ(parts[i], std::vector<std::byte>(3 * i, std::byte(i)));
}

TEST(Team, ReducesEveryType) {
  const auto team = test_world().team(all_backwards());
  check_reductions<float>(*team);
  check_reductions<double>(*team);
  check_reductions<std::int32_t>(*team);
  check_reductions<std::int64_t>(*team);
  check_reductions<std::uint64_t>(*team);
}

TEST(Team, FindsWhereTheLeastAndTheLargestAre) {
  const auto team = test_world().team(all_backwards());
  const int last = team->size() - 1, here = team->rank();
  using Place = Located<double>;
  EXPECT_EQ(team->all_reduce(Place{-1.5 * here, here}, Fold::minimum), (Place{-1.5 * last, last}));
  EXPECT_EQ(team->all_reduce(Place{-1.5 * here, here}, Fold::maximum), (Place{0, 0}));
  EXPECT_EQ(team->all_reduce(Place{7, 10 - here}, Fold::maximum), (Place{7, 10 - last})) << "the least place";
  const Place with_nan{here == 0 ? std::nan("") : 3.0 + here, here};
  const Place found = team->all_reduce(with_nan, Fold::maximum);
  if (last > 0) {
    EXPECT_EQ(found, (Place{3.0 + last, last}));
  } else {
    EXPECT_TRUE(std::isnan(found.value));
  }
  using Whole = Located<std::int64_t>;
  std::vector<Whole> several{{here, 1}, {-here, 2 + here}};
  team->all_reduce(std::span(several), Fold::minimum);
  EXPECT_EQ(several, (std::vector<Whole>{{0, 1}, {-last, 2 + last}}));
}

// Member a sends b (a + 2b) % 5 + long elements, each of which encodes its sender and its receiver.
TEST(Team, ExchangesAllWithAll) {
  const auto team = test_world().team(all_backwards());
  const int here = team->rank();
  for (const std::size_t more : {0u, 4000u}) {
    const auto count = [&](int from, int to) { return static_cast<std::size_t>((from + 2 * to) % 5) + more; };
    const auto value = [](int from, int to, std::size_t i) {
      return from * 1000000 + to * 100000 + static_cast<int>(i);
    };
    std::vector<int> sent, should;
    std::vector<std::size_t> out, in;
    for (int other = 0; other < team->size(); ++other) {
      out.push_back(count(here, other));
      in.push_back(count(other, here));
      for (std::size_t i = 0; i < out.back(); ++i) sent.push_back(value(here, other, i));
      for (std::size_t i = 0; i < in.back(); ++i) should.push_back(value(other, here, i));
    }
    std::vector<int> received(should.size(), -1);
    team->all_to_all(std::span<const int>(sent), out, std::span(received), in);
    EXPECT_EQ(received, should);
  }
}

// Parts of any length, also of none.
TEST(Team, GathersPartsOnAll) {
  const auto team = test_world().team(all_backwards());
  for (const std::size_t more : {0u, 4000u}) {
    std::vector<std::uint64_t> mine, should;
    std::vector<std::size_t> counts;
    for (int place = 0; place < team->size(); ++place) {
      counts.push_back(more + static_cast<std::size_t>(place) % 3);
      for (std::size_t i = 0; i < counts.back(); ++i) {
        should.push_back(static_cast<std::uint64_t>(place) * 100000 + i + 1);
        if (place == team->rank()) mine.push_back(should.back());
      }
    }
    std::vector<std::uint64_t> all(should.size());
    team->all_gather(std::span<const std::uint64_t>(mine), std::span(all), counts);
    EXPECT_EQ(all, should);
  }
}

TEST(Team, SeveralAtOnceDoNotDisturbEachOther) {
  World& world = test_world();
  const auto team = test_world().team(every_second());
  const auto whole = test_world().team(all_backwards());
  for (int round = 0; round < 50; ++round) {
    int sum = 0;
    for (const int rank : team->ranks()) sum += rank + round;
    EXPECT_EQ(team->all_reduce(world.rank() + round, Fold::sum), sum);
    EXPECT_EQ(broadcast_value(world, world.rank() + round), round);
    if (round % 10 == 0) whole->barrier();
    EXPECT_EQ(whole->all_reduce(world.rank(), Fold::maximum), world.size() - 1);
  }
}

// No member leaves a barrier before the last has entered it.
TEST(Team, WaitsForAllAtABarrier) {
  const auto team = test_world().team(every_second());
  for (std::int64_t late = 0; late < team->size(); ++late) {
    if (team->rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const double arrived = now_seconds();
    team->barrier();
    const double left = now_seconds();
    EXPECT_LE(team->all_reduce(arrived, Fold::maximum), team->all_reduce(left, Fold::minimum));
  }
}

TEST(Team, ThoseThatAreNotInItAreIdle) {
  World& world = test_world();
  const auto grid = test_world().team(square_grid(world.size()));
  const int side = static_cast<int>(std::sqrt(world.size()));
  EXPECT_EQ(grid->size(), side * side);
  EXPECT_EQ(grid->is_member(), world.rank() < side * side);
  const Json facts = grid->facts(world.size());
  EXPECT_EQ(facts["ranks"].size() + facts["idle"].size(), static_cast<std::size_t>(world.size()));
  if (world.size() == 3) {
    EXPECT_EQ(facts, Json({{"ranks", {0}}, {"idle", {1, 2}}}));
  }
  if (grid->is_member()) {
    EXPECT_EQ(grid->all_reduce(1, Fold::sum), side * side);
  } else {
    EXPECT_EQ(grid->rank(), -1);
    EXPECT_THAT(refusal([&] { grid->barrier(); }), HasSubstr("this rank is not in the team"));
  }
}

TEST(Team, ThatIsNoneIsRefusedByAll) {
  World& world = test_world();
  const bool last = world.rank() == world.size() - 1;
  EXPECT_EQ(refusal([&] { test_world().team({}); }), "a team must have a rank: none was named");
  EXPECT_EQ(refusal([&] { test_world().team({0, 0}); }), "rank 0 is named twice in the team 0, 0");
  EXPECT_THAT(refusal([&] { test_world().team({0, 99}); }), HasSubstr("rank 99 of the team 0, 99 is not in the world"));
  EXPECT_NE(refusal([&] { test_world().team(last ? std::vector<int>{-1} : std::vector<int>{0}); }), "")
      << "on all ranks";
  if (world.size() == 1) return;
  const std::string differing = refusal([&] {
    test_world().team(last ? all_backwards() : std::vector<int>{0, world.size() - 1});
  });
  EXPECT_THAT(differing, HasSubstr("names the team"));
  EXPECT_EQ(broadcast_text(world, differing), differing) << "the same sentence";
}

TEST(Team, RefusesWhatCannotBe) {
  const auto team = test_world().team(all_backwards());
  int value = 0;
  const auto bytes = std::as_writable_bytes(std::span(&value, 1));
  EXPECT_THAT(refusal([&] { team->broadcast(bytes, team->size()); }), HasSubstr("is not in a team of"));
  EXPECT_THAT(refusal([&] { team->all_reduce(Located<double>{}, Fold::sum); }), HasSubstr("a sum has no place"));
  std::vector<std::size_t> none;
  EXPECT_THAT(refusal([&] { team->all_to_all(std::span<const int>(), none, std::span<int>(), none); }),
              HasSubstr("0 counts of 0 B"));
  EXPECT_THAT(refusal([&] { team->all_gather(std::span<const int>(), std::span<int>(), none); }),
              HasSubstr("all-gather: 0 counts"));
}

}  // namespace
}  // namespace plumb
