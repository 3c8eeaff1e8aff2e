#include "benchmarks/hpcc/stream/numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <future>

#include "device/host_share.hpp"

namespace plumb::stream {

namespace {

constexpr std::uint64_t words_worth_a_thread = 1 << 15;

int significand_bits(ScalarType type) {
  return type == ScalarType::f16 ? 11 : type == ScalarType::f32 ? 24 : 53;
}

// `bits` in every number of a word.
std::uint64_t in_each(ScalarType type, std::uint64_t bits) {
  std::uint64_t word = 0;
  for (unsigned shift = 0; shift < 64; shift += 8 * static_cast<unsigned>(size_of(type))) word |= bits << shift;
  return word;
}

// work(begin, end) on the cores of this process, each a run of 0 … words; the results in order. Threads of their own,
// because OpenMP's would go on looking for work, on cores that a device needs at once.
template <class Work>
auto in_runs(std::uint64_t words, Work work) {
  const std::uint64_t runs = std::clamp<std::uint64_t>(words / words_worth_a_thread, 1, host_share().cores);
  std::vector<std::future<decltype(work(words, words))>> others;
  for (std::uint64_t run = 1; run < runs; ++run)
    others.push_back(std::async(std::launch::async, work, words * run / runs, words * (run + 1) / runs));
  std::vector<decltype(work(words, words))> results{work(std::uint64_t{0}, words / runs)};
  for (auto& other : others) results.push_back(other.get());
  return results;
}

// Every half as a double.
const double* halves() {
  static const std::vector<double> table = [] {
    std::vector<double> values(1 << 16);
    for (unsigned bits = 0; bits < values.size(); ++bits) values[bits] = from_half(static_cast<std::uint16_t>(bits));
    return values;
  }();
  return table.data();
}

// Numbers as they lie in a word; Bits is as wide as they are.
template <class Bits>
constexpr std::uint64_t of_a_word = 8 / sizeof(Bits);

template <class Bits>
double number(std::uint64_t word, std::uint64_t i) {
  const auto bits = static_cast<Bits>(word >> (8 * sizeof(Bits) * i));
  if constexpr (sizeof(Bits) == 8) return std::bit_cast<double>(bits);
  if constexpr (sizeof(Bits) == 4) return std::bit_cast<float>(bits);
  if constexpr (sizeof(Bits) == 2) return halves()[bits];
}

// call(Bits())
template <class Call>
auto with_bits(ScalarType type, Call call) {
  if (type == ScalarType::f16) return call(std::uint16_t());
  if (type == ScalarType::f32) return call(std::uint32_t());
  return call(std::uint64_t());
}

void add(Difference& sum, const Difference& more) {
  if (sum.wrong == 0 && more.wrong > 0) sum = {0, more.first, more.is, more.should_be, sum.largest};
  sum.wrong += more.wrong;
  if (!(more.largest <= sum.largest)) sum.largest = more.largest;
}

template <class Bits>
Difference compare_run(std::span<const std::byte> bytes, const Operation& operation, const Numbers& first,
                       const Numbers& second, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t count = bytes.size() / sizeof(Bits);
  Difference found;
  for (std::uint64_t index = begin; index < end; ++index) {
    std::uint64_t got = 0;
    std::memcpy(&got, bytes.data() + 8 * index, std::min<std::size_t>(8, bytes.size() - 8 * index));
    const std::uint64_t x = first.word(index), y = second.word(index), at = index * of_a_word<Bits>;
    for (std::uint64_t i = 0; i < std::min(of_a_word<Bits>, count - at); ++i) {
      const double is = number<Bits>(got, i);
      const double should_be = operation.rule(number<Bits>(x, i), number<Bits>(y, i));
      if (is == should_be) [[likely]]
        continue;
      if (found.wrong++ == 0) found = {1, at + i, is, should_be, 0};
      if (const double off = std::abs(is - should_be); !(off <= found.largest)) found.largest = off;
    }
  }
  return found;
}

template <class Bits>
double dot_run(const Numbers& first, const Numbers& second, std::uint64_t count, std::uint64_t begin,
               std::uint64_t end) {
  double sum = 0;
  for (std::uint64_t index = begin; index < end; ++index) {
    const std::uint64_t x = first.word(index), y = second.word(index);
    const std::uint64_t there = std::min(of_a_word<Bits>, count - index * of_a_word<Bits>);
    for (std::uint64_t i = 0; i < there; ++i) sum += number<Bits>(x, i) * number<Bits>(y, i);
  }
  return sum;
}

}  // namespace

int fraction_bits(ScalarType type) {
  return significand_bits(type) - 3;
}

int fraction_bits_of_dot(ScalarType type, std::uint64_t count) {
  const int kept = significand_bits(type == ScalarType::f64 ? ScalarType::f64 : ScalarType::f32);
  const int largest_sum = 5 + (static_cast<int>(std::bit_width(count)) + 1) / 2;  // log2 of 32 sqrt(count), rounded up
  return std::clamp((kept - largest_sum) / 2, 0, fraction_bits(type));
}

Numbers::Numbers(ScalarType type, int fraction_bits, std::uint64_t key) : type_(type), key_(key) {
  const int width = 8 * static_cast<int>(size_of(type));
  const int stored = significand_bits(type) - 1;
  const std::uint64_t fraction = ((std::uint64_t{1} << fraction_bits) - 1) << (stored - fraction_bits);
  const std::uint64_t exponent_of_one = (std::uint64_t{1} << (width - stored - 2)) - 1;
  random_ = in_each(type, std::uint64_t{1} << (width - 1) | fraction);
  one_ = in_each(type, exponent_of_one << stored);
}

Contents contents(const Operation& operation, ScalarType type, std::uint64_t elements, const Owner& owner) {
  const int bits = operation.kind == Operation::Kind::dot ? fraction_bits_of_dot(type, elements) : fraction_bits(type);
  std::uint64_t key = mix64(owner.seed);
  for (const std::uint64_t part : {owner.rank, owner.replication, owner.repetition}) key = mix64(key ^ part);
  const auto numbers = [&](std::uint64_t array) { return Numbers(type, bits, mix64(key ^ array)); };
  return {numbers(1), numbers(2), numbers(3)};
}

void fill(std::span<std::byte> bytes, const Numbers& numbers) {
  const auto put = [&](std::uint64_t index, std::size_t length) {
    const std::uint64_t word = numbers.word(index);
    std::memcpy(bytes.data() + 8 * index, &word, length);
  };
  const std::uint64_t whole = bytes.size() / 8;
  in_runs(whole, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t index = begin; index < end; ++index) put(index, 8);
    return end;
  });
  put(whole, bytes.size() % 8);
}

Difference compare(std::span<const std::byte> bytes, const Operation& operation, const Numbers& first,
                   const Numbers& second) {
  const auto run = [&](std::uint64_t begin, std::uint64_t end) {
    return with_bits(first.type(), [&](auto bits) {
      return compare_run<decltype(bits)>(bytes, operation, first, second, begin, end);
    });
  };
  Difference found;
  for (const Difference& part : in_runs((bytes.size() + 7) / 8, run)) add(found, part);
  return found;
}

double dot(const Numbers& first, const Numbers& second, std::uint64_t count) {
  const auto run = [&](std::uint64_t begin, std::uint64_t end) {
    return with_bits(first.type(),
                     [&](auto bits) { return dot_run<decltype(bits)>(first, second, count, begin, end); });
  };
  const std::uint64_t bytes = count * size_of(first.type());
  double sum = 0;
  for (const double part : in_runs((bytes + 7) / 8, run)) sum += part;
  return sum;
}

}  // namespace plumb::stream
