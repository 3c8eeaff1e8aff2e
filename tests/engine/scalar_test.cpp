// Element types and their conversions.
#include "core/scalar.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/embedded.hpp"
#include "core/error.hpp"

namespace plumb {

namespace {

TEST(Scalar, EveryHalfComesBack) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const double value = from_half(static_cast<std::uint16_t>(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(from_half(to_half(value)))) << bits;
    else
      EXPECT_EQ(to_half(value), bits);
  }
}

TEST(Scalar, HalfRoundsToNearestEven) {
  EXPECT_EQ(from_half(to_half(1 + std::ldexp(1, -11))), 1);                               // a tie, to even
  EXPECT_EQ(from_half(to_half(1 + 3 * std::ldexp(1, -11))), 1 + 2 * std::ldexp(1, -10));  // a tie, to even
  EXPECT_EQ(from_half(to_half(1 + 1.01 * std::ldexp(1, -11))), 1 + std::ldexp(1, -10));
  EXPECT_EQ(from_half(to_half(2047.9)), 2048);                                 // a carry
  EXPECT_EQ(from_half(to_half(std::ldexp(1023.6, -24))), std::ldexp(1, -14));  // out of the subnormal
  EXPECT_EQ(from_half(to_half(65519)), 65504);
  EXPECT_EQ(from_half(to_half(65520)), std::numeric_limits<double>::infinity());
  EXPECT_EQ(from_half(to_half(-1e9)), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(from_half(to_half(std::ldexp(1, -26))), 0);
}

TEST(Scalar, EveryBfloat16ComesBack) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const double value = from_bfloat16(static_cast<std::uint16_t>(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(from_bfloat16(to_bfloat16(value)))) << bits;
    else
      EXPECT_EQ(to_bfloat16(value), bits);
  }
}

TEST(Scalar, Bfloat16RoundsOnceToNearestEven) {
  const double tie = 1 + std::ldexp(1, -8), next = 1 + std::ldexp(1, -7);
  EXPECT_EQ(from_bfloat16(to_bfloat16(tie)), 1);
  EXPECT_EQ(from_bfloat16(to_bfloat16(1 + 3 * std::ldexp(1, -8))), 1 + 2 * std::ldexp(1, -7));
  // So near to a tie that float would make it one.
  EXPECT_EQ(from_bfloat16(to_bfloat16(tie + std::ldexp(1, -40))), next);
  EXPECT_EQ(from_bfloat16(to_bfloat16(next + std::ldexp(1, -8) - std::ldexp(1, -40))), next);
  EXPECT_EQ(from_bfloat16(to_bfloat16(-255.6)), -256);
  EXPECT_EQ(from_bfloat16(to_bfloat16(largest_of(ScalarType::bf16))), largest_of(ScalarType::bf16));
  EXPECT_EQ(from_bfloat16(to_bfloat16(1e300)), std::numeric_limits<double>::infinity());
  EXPECT_EQ(from_bfloat16(to_bfloat16(-3.4e38)), -std::numeric_limits<double>::infinity());
}

TEST(Scalar, ArraysKeepTheirValues) {
  const std::vector<double> values{-1.5, 0.25, 3, 1024};
  for (const ScalarType type : {ScalarType::f16, ScalarType::bf16, ScalarType::f32, ScalarType::f64}) {
    std::vector<std::byte> bytes(values.size() * size_of(type));
    store_scalars(values, type, bytes);
    std::vector<double> back(values.size());
    load_scalars(bytes, type, back);
    EXPECT_EQ(back, values) << to_string(type);
    EXPECT_EQ(parse_scalar_type(to_string(type)), type);
    EXPECT_THROW(store_scalars(values, type, std::span(bytes).first(1)), Error);
  }
  EXPECT_THROW(parse_scalar_type("quad"), UsageError);
}

TEST(Embedded, NamesWhatIsMissing) {
  try {
    embedded_text("benchmarks/none.cl");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("benchmarks/none.cl"));
  }
}

}  // namespace

}  // namespace plumb
