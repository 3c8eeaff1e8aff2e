#include "benchmarks/hpcc/stream/numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <future>

#include "core/error.hpp"
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

// Calls work(begin, end) on the cores of this process, each with a range of 0 … words; returns the results in order.
// Uses its own threads, as OpenMP's would keep polling on cores that a device needs.
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

// Numbers as stored in a word; Bits has the same width.
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
void with_bits(ScalarType type, Call call) {
  if (type == ScalarType::f16) return call(std::uint16_t());
  if (type == ScalarType::f32) return call(std::uint32_t());
  return call(std::uint64_t());
}

void add(Difference& sum, const Difference& more) {
  if (sum.wrong == 0 && more.wrong > 0) sum = {0, more.first, more.is, more.should_be, sum.largest};
  sum.wrong += more.wrong;
  if (!(more.largest <= sum.largest)) sum.largest = more.largest;
}

// Calls call(word, lane, i) for the elements 0 … count - 1, which are numbers from, from + 1, … of arrays, on all
// cores; returns the results of ranges in order.
template <class Bits, class Result, class Call>
std::vector<Result> each_number(std::uint64_t count, std::uint64_t from, Call call) {
  constexpr std::uint64_t lanes = of_a_word<Bits>;
  const std::uint64_t first_word = from / lanes, end = from + count;
  return in_runs((end + lanes - 1) / lanes - first_word, [&](std::uint64_t begin_run, std::uint64_t end_run) {
    Result result{};
    for (std::uint64_t word = first_word + begin_run; word < first_word + end_run; ++word)
      call(result, word, std::max(word * lanes, from), std::min((word + 1) * lanes, end));
    return result;
  });
}

template <class Bits>
std::vector<Difference> compare_as(std::span<const std::byte> bytes, const Operation& operation, const Numbers& first,
                                   const Numbers& second, std::uint64_t from) {
  const auto compare_word = [&](Difference& found, std::uint64_t word, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t x = first.word(word), y = second.word(word);
    std::uint64_t got = 0;
    std::memcpy(&got, bytes.data() + (begin - from) * sizeof(Bits), (end - begin) * sizeof(Bits));
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t lane = i % of_a_word<Bits>;
      const double is = number<Bits>(got, i - begin);
      const double should_be = operation.rule(number<Bits>(x, lane), number<Bits>(y, lane));
      if (is == should_be) [[likely]]
        continue;
      if (found.wrong++ == 0) found = {1, i - from, is, should_be, found.largest};
      if (const double off = std::abs(is - should_be); !(off <= found.largest)) found.largest = off;
    }
  };
  return each_number<Bits, Difference>(bytes.size() / sizeof(Bits), from, compare_word);
}

template <class Bits>
std::vector<double> sums_of_products(const Numbers& first, const Numbers& second, std::uint64_t count,
                                     std::uint64_t from) {
  return each_number<Bits, double>(
      count, from, [&](double& sum, std::uint64_t word, std::uint64_t begin, std::uint64_t end) {
        const std::uint64_t x = first.word(word), y = second.word(word);
        for (std::uint64_t i = begin; i < end; ++i)
          sum += number<Bits>(x, i % of_a_word<Bits>) * number<Bits>(y, i % of_a_word<Bits>);
      });
}

}  // namespace

const std::vector<Operation>& operations() {
  using enum Array;
  using Kind = Operation::Kind;
  const auto same = [](double x, double) { return x; };
  static const std::vector<Operation> table{
      {"write", Kind::write, {a, b, c}, {a, b, c}, false, 0, same},
      {"copy", Kind::kernel, {a}, {c}, false, 0, same},
      {"scale", Kind::kernel, {c}, {b}, true, 1, [](double x, double) { return scalar * x; }},
      {"add", Kind::kernel, {a, b}, {c}, false, 1, [](double x, double y) { return x + y; }},
      {"triad", Kind::kernel, {b, c}, {a}, true, 2, [](double x, double y) { return x + scalar * y; }},
      {"dot", Kind::dot, {a, b}, {}, false, 2, [](double x, double y) { return x * y; }},
      {"read", Kind::read, {a, b, c}, {a, b, c}, false, 0, same},
  };
  return table;
}

const Operation& operation(const std::string& name) {
  for (const Operation& row : operations())
    if (row.name == name) return row;
  throw Error("STREAM has no operation " + name);
}

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

Contents contents(const Operation& operation, ScalarType type, std::uint64_t elements, const Provenance& owner) {
  const int bits = operation.kind == Operation::Kind::dot ? fraction_bits_of_dot(type, elements) : fraction_bits(type);
  const std::uint64_t key = owner.key();
  const auto numbers = [&](std::uint64_t array) { return Numbers(type, bits, mix64(key ^ array)); };
  return {numbers(1), numbers(2), numbers(3)};
}

void fill(std::span<std::byte> bytes, const Numbers& numbers, std::uint64_t first) {
  const auto put = [&](std::uint64_t index, std::size_t length) {
    const std::uint64_t word = numbers.word(first + index);
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
                   const Numbers& second, std::uint64_t from) {
  Difference found;
  with_bits(first.type(), [&](auto bits) {
    for (const Difference& part : compare_as<decltype(bits)>(bytes, operation, first, second, from)) add(found, part);
  });
  return found;
}

double dot(const Numbers& first, const Numbers& second, std::uint64_t count, std::uint64_t from) {
  double sum = 0;
  with_bits(first.type(), [&](auto bits) {
    for (const double part : sums_of_products<decltype(bits)>(first, second, count, from)) sum += part;
  });
  return sum;
}

}  // namespace plumb::stream
