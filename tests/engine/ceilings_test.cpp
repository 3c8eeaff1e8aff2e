#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "benchmarks/device/ceilings/ceilings.hpp"
#include "benchmarks/device/ceilings/reference.hpp"
#include "device/host_share.hpp"
#include "device/host_simd.hpp"

namespace plumb::ceilings {
namespace {

constexpr ScalarType types[]{ScalarType::f16, ScalarType::f32, ScalarType::f64};

TEST(Ceilings, ScramblingIsABijectionWithItsInverse) {
  for (const unsigned bits : {1u, 2u, 3u, 9u, 12u}) {
    const std::uint64_t words = std::uint64_t{1} << bits;
    std::set<std::uint64_t> places;
    for (std::uint64_t u = 0; u < words; ++u) {
      places.insert(scramble(u, bits));
      EXPECT_EQ(unscramble(scramble(u, bits), bits), u);
      EXPECT_EQ(scramble(u + 5 * words, bits), scramble(u, bits));
      EXPECT_EQ(scramble<std::uint32_t>(u + 5 * words, bits), scramble(u, bits));
    }
    EXPECT_EQ(places.size(), words);
  }
  for (const std::uint64_t u : {0ull, 1ull, 12345678901ull}) {
    EXPECT_EQ(unscramble(scramble(u, 40), 40), u);
    EXPECT_EQ(scramble<std::uint32_t>(u, 32), scramble(u, 32));
  }
}

// No prefetcher must guess the next place from the last ones.
TEST(Ceilings, ScrambledPlacesHaveNoStride) {
  std::set<std::uint64_t> strides;
  for (std::uint64_t u = 0; u < 1000; ++u) strides.insert(scramble(u + 1, 27) - scramble(u, 27));
  EXPECT_GT(strides.size(), 900u);
}

TEST(Ceilings, UpdatedWordsAreThoseOfAReplay) {
  constexpr unsigned bits = 7;
  for (const std::uint64_t updates : {0u, 1u, 100u, 128u, 129u, 1000u}) {
    std::vector<std::uint64_t> table(std::size_t{1} << bits);
    for (std::uint64_t i = 0; i < table.size(); ++i) table[i] = mix64(i);
    for (std::uint64_t u = 0; u < updates; ++u) table[scramble(u, bits)] ^= update_value(u);
    for (std::uint64_t i = 0; i < table.size(); ++i) EXPECT_EQ(updated_word(mix64(i), i, bits, updates), table[i]);
  }
}

TEST(Ceilings, SharesCoverEveryWordOnce) {
  for (const bool interleaved : {false, true})
    for (const std::uint64_t items : {1u, 3u, 16u})
      for (const std::uint64_t words : {1u, 2u, 15u, 16u, 17u, 1000u}) {
        std::vector<int> taken(words);
        for (std::uint64_t item = 0; item < items; ++item) {
          const Share share = share_of(item, items, words, interleaved);
          for (std::uint64_t i = share.first; i < share.last; i += share.step) ++taken[i];
        }
        EXPECT_EQ(taken, std::vector<int>(words, 1)) << items << " items, " << words << " words";
      }
}

double in_type(double value, ScalarType type) {
  if (type == ScalarType::f16) return from_half(to_half(value));
  return type == ScalarType::f32 ? static_cast<float>(value) : value;
}

// Each step's result, and each product before its term is added, is a number of the type: nothing is ever rounded.
TEST(Ceilings, ArithmeticIsExact) {
  for (const ScalarType type : types) {
    const Steps steps = steps_of(type);
    EXPECT_EQ(steps.b1 * steps.a2 + steps.b2, 1);
    for (const std::uint64_t number : {0u, 1u, 77u, 4095u}) {
      const double start = start_of(1, 2, number, type) + shift_of(number);
      double x = start;
      for (std::uint32_t pair = 0; pair < pairs_of_steps; ++pair) {
        for (const double step : {x * steps.a1, x = x * steps.a1 + steps.b1, x * steps.a2, x * steps.a2 + steps.b2})
          ASSERT_EQ(in_type(step, type), step) << to_string(type) << " at pair " << pair;
        x = x * steps.a2 + steps.b2;
      }
      EXPECT_EQ(x, start + pairs_of_steps);
    }
  }
}

TEST(Ceilings, StartsDifferByRankAndIndex) {
  for (const ScalarType type : types) {
    std::set<double> starts;
    for (std::uint64_t index = 0; index < 1000; ++index) starts.insert(start_of(1, 0, index, type));
    EXPECT_GT(starts.size(), 400u);
    EXPECT_NE(start_of(1, 0, 7, type), start_of(1, 1, 7, type));
    EXPECT_FALSE(starts.contains(0));
  }
}

TEST(Ceilings, StartsAreShiftedInEachRepetition) {
  std::set<double> shifts;
  for (std::uint64_t repetition = 9; repetition < 9 + 256; ++repetition) shifts.insert(shift_of(repetition));
  EXPECT_EQ(shifts.size(), 256u);
  const double highest = -2000 + 512 + *shifts.rbegin() + pairs_of_steps;
  EXPECT_LT(highest, 2048);
}

TEST(Ceilings, CasesSayTheirWork) {
  Ceilings benchmark;
  benchmark.find("tables")->parse("2");
  benchmark.find("size")->parse("20");
  std::set<std::string> keys;
  for (const Group& group : benchmark.groups({})) {
    EXPECT_GT(group.device_bytes, 0u);
    for (const Case& measured : group.cases) {
      EXPECT_TRUE(keys.insert(measured.key).second);
      EXPECT_GT(measured.items_to_check, 0u);
    }
  }
  EXPECT_EQ(keys.size(), 3u + 6 + 3 + 4 + 4);
  EXPECT_TRUE(keys.contains("random/update/8388608"));
  benchmark.find("accumulators")->parse("5000");
  EXPECT_THROW(benchmark.check({}), UsageError);
}

// Products of small whole numbers and eighths are exact in every type of factor, and a pair adds one.
TEST(Ceilings, ProductsAreExact) {
  for (const int inner : {8, 16}) {
    const Steps factors = factors_of(inner);
    for (const double factor : {factors.a1, factors.b1, factors.a2, factors.b2})
      EXPECT_EQ(from_half(to_half(factor)), factor);
    EXPECT_EQ(inner * (factors.a1 * factors.b1 + factors.a2 * factors.b2), 1);
  }
}

TEST(HostShare, KnowsCachesAndVectors) {
  const HostShare share = host_share();
  const std::size_t vector = host_vector_bytes();
  EXPECT_TRUE(vector == 16 || vector == 32 || vector == 64);
  EXPECT_LT(share.cache_bytes, share.memory_bytes);
}

}  // namespace
}  // namespace plumb::ceilings
