// The NPB's random numbers: x <- a x mod 2^46, a = 5^13, with jumps.
#pragma once

#include <cstdint>

namespace plumb::npb {

inline constexpr std::uint64_t usual_seed = 314159265;  // of all but EP

class Random46 {
 public:
  // Number `skip` of the sequence (from 0) comes next.
  explicit Random46(std::uint64_t seed = usual_seed, std::uint64_t skip = 0) : x_(seed) {
    for (std::uint64_t power = factor; skip > 0; skip /= 2, power = power * power & mask)
      if (skip % 2 != 0) x_ = x_ * power & mask;
  }
  double next() {
    x_ = x_ * factor & mask;  // 2^46 divides 2^64
    return static_cast<double>(x_) * 0x1p-46;
  }

 private:
  static constexpr std::uint64_t factor = 1220703125, mask = (std::uint64_t{1} << 46) - 1;
  std::uint64_t x_;
};

}  // namespace plumb::npb
