#include "benchmarks/hpcc/random_access/stream.hpp"

namespace plumb::random_access {

namespace {

// For polynomials over GF(2): doubling is a step of the stream, addition is xor.
std::uint64_t polynomial_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) result ^= a;
    a = (a << 1) ^ ((a >> 63) * 7);
  }
  return result;
}

std::uint64_t product(Stream stream, std::uint64_t a, std::uint64_t b) {
  return stream == Stream::lcg ? a * b : polynomial_product(a, b);
}

Leap one_after_the_other(const Leap& first, const Leap& second) {
  return {first.stream, product(first.stream, first.factor, second.factor), second.from(first.summand)};
}

}  // namespace

std::uint64_t Leap::from(std::uint64_t word) const {
  return product(stream, word, factor) + summand;
}

Leap leap(Stream stream, std::uint64_t steps) {
  Leap result{stream, 1, 0};
  Leap power = stream == Stream::lcg ? Leap{stream, lcg_factor, 1} : Leap{stream, 2, 0};
  for (; steps != 0; steps >>= 1) {
    if ((steps & 1) != 0) result = one_after_the_other(result, power);
    power = one_after_the_other(power, power);
  }
  return result;
}

std::uint64_t start(Stream stream, std::uint64_t update) {
  return leap(stream, update).from(1);
}

Shares cut(std::uint64_t updates, std::uint64_t wanted, std::uint64_t unit) {
  const std::uint64_t units = updates / unit;
  if (wanted <= 1) return {1, updates};
  if (wanted >= units) return {units, unit};
  const std::uint64_t even = units / wanted;
  const std::uint64_t length = (even + even / 32) | 1;
  return {(units + length - 1) / length, length * unit};
}

std::vector<std::uint64_t> starts_of(Stream stream, std::uint64_t first, const Shares& shares) {
  const Leap over_a_share = leap(stream, shares.length);
  std::vector<std::uint64_t> starts(shares.count);
  std::uint64_t word = start(stream, first);
  for (std::uint64_t& own : starts) {
    own = word;
    word = over_a_share.from(word);
  }
  return starts;
}

}  // namespace plumb::random_access
