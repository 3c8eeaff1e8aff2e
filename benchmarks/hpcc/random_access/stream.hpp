// The two streams of random words of RandomAccess (HPCC's rules). Pure arithmetic.
#pragma once

#include <cstdint>
#include <vector>

namespace plumb::random_access {

// polynomial: x -> 2x, xor 7 if x had its top bit: multiplication by t modulo t^64 + t^2 + t + 1 over GF(2); a word's
//             position in the table is its low bits.
// lcg:        x -> 6364136223846793005 x + 1 modulo 2^64; a word's position is its high bits.
enum class Stream { polynomial, lcg };

inline constexpr std::uint64_t lcg_factor = 6364136223846793005ull;

// Several steps combined: x -> factor * x + summand in the stream's arithmetic (GF(2)[t] modulo the polynomial, or
// integers modulo 2^64).
struct Leap {
  Stream stream = Stream::polynomial;
  std::uint64_t factor = 1, summand = 0;

  std::uint64_t from(std::uint64_t word) const;
};
Leap leap(Stream stream, std::uint64_t steps);

// HPCC's starts(n): the word before update n. Update n applies the word after it; starts(0) is 1.
std::uint64_t start(Stream stream, std::uint64_t update);

// A run of updates cut into shares of equal length, one per generator, the last one possibly shorter.
struct Shares {
  std::uint64_t count = 1, length = 0;
};
// About `wanted` shares of `updates`, whose lengths are odd multiples of `unit` (a power of two that divides updates)
// and not close to a power of two: the polynomial stream is so sparse that words a power of two apart share most bits,
// and generators with such starts repeatedly access the same words (README.md).
Shares cut(std::uint64_t updates, std::uint64_t wanted, std::uint64_t unit);

// The word before each share of the updates from `first` on.
std::vector<std::uint64_t> starts_of(Stream stream, std::uint64_t first, const Shares& shares);

}  // namespace plumb::random_access
