#include "device/native/halves.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/scalar.hpp"

namespace plumb {

namespace {

TEST(Halves, EveryOneComesBack) {
  std::vector<std::uint16_t> halves(1 << 16), back(halves.size());
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  std::vector<float> floats(halves.size());
  widen_halves(halves.data(), floats.data(), halves.size());
  narrow_to_halves(floats.data(), back.data(), back.size());
  for (std::size_t i = 0; i < halves.size(); ++i) {
    if (std::isnan(floats[i])) continue;
    EXPECT_EQ(static_cast<double>(floats[i]), from_half(halves[i])) << i;
    EXPECT_EQ(back[i], halves[i]);
  }
}

TEST(Halves, RoundToNearestEvenInRunsOfAnyLength) {
  for (std::size_t count = 0; count < 20; ++count) {
    std::vector<float> floats(count);
    for (std::size_t i = 0; i < count; ++i) floats[i] = 1 + std::ldexp(static_cast<float>(i), -12);
    std::vector<std::uint16_t> halves(count + 1, 0xffff);
    narrow_to_halves(floats.data(), halves.data(), count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(halves[i], to_half(static_cast<double>(floats[i]))) << i;
    EXPECT_EQ(halves[count], 0xffff);
  }
}

}  // namespace

}  // namespace plumb
