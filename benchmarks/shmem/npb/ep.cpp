#include "benchmarks/shmem/npb/ep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "device/host_simd.hpp"
#include "world/collect.hpp"

namespace plumb::npb {

namespace {

enum EpPhase : std::size_t { gpairs, randn, ep_rcomm };
constexpr std::uint64_t most_of_batch = 1 << 16;  // pairs
constexpr std::uint64_t batches_checked = 8;      // of a rank, at most

std::uint64_t pairs_of_batch(std::int64_t log2_pairs) {
  return std::min(most_of_batch, std::uint64_t{1} << log2_pairs);
}

// Batches of a rank: the remainder goes to the first ranks.
struct Batches {
  std::uint64_t first, count;
  Batches(std::int64_t log2_pairs, int rank, int ranks) {
    const std::uint64_t all = (std::uint64_t{1} << log2_pairs) / pairs_of_batch(log2_pairs);
    const auto r = static_cast<std::uint64_t>(rank), p = static_cast<std::uint64_t>(ranks);
    first = all * r / p;
    count = all * (r + 1) / p - first;
  }
};

// Sixteen sequences side by side, each with the step of sixteen, fill vector registers.
constexpr std::size_t lanes = 16;
[[gnu::always_inline]] inline void fill_lanes(std::span<double> numbers, std::array<std::uint64_t, lanes> x,
                                              std::uint64_t step) {
  constexpr std::uint64_t mask = (std::uint64_t{1} << 46) - 1;
  for (std::size_t i = 0; i < numbers.size(); i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      // 2^52 in the exponent: a whole number below it becomes a double without a conversion.
      const std::uint64_t bits = x[lane] | 0x4330000000000000;
      numbers[i + lane] = (std::bit_cast<double>(bits) - 0x1p52) * 0x1p-45 - 1;
      x[lane] = x[lane] * step & mask;
    }
}
PLUMBLINE_VECTORS_OF_64 void fill_lanes_64(std::span<double> n, std::array<std::uint64_t, lanes> x, std::uint64_t s) {
  fill_lanes(n, x, s);
}
PLUMBLINE_VECTORS_OF_32 void fill_lanes_32(std::span<double> n, std::array<std::uint64_t, lanes> x, std::uint64_t s) {
  fill_lanes(n, x, s);
}
void fill_lanes_16(std::span<double> n, std::array<std::uint64_t, lanes> x, std::uint64_t s) {
  fill_lanes(n, x, s);
}

// Numbers [first, first + size) of the sequence as 2r - 1; size a multiple of the lanes.
void fill_uniform(std::span<double> numbers, std::uint64_t seed, std::uint64_t first) {
  std::array<std::uint64_t, lanes> x{};
  Random46 random(seed, first);
  for (std::uint64_t& one : x) one = static_cast<std::uint64_t>(random.next() * 0x1p46);
  Random46 unit(1, lanes - 1);  // its next number is a^16
  const auto step = static_cast<std::uint64_t>(unit.next() * 0x1p46);
  static const std::size_t vector = host_vector_bytes();
  (vector == 64 ? fill_lanes_64 : vector == 32 ? fill_lanes_32 : fill_lanes_16)(numbers, x, step);
}

// The accepted pairs come to the front first: the loop with the logarithm is without a branch that is hard to foretell.
Deviates deviates_of(std::span<double> numbers) {
  Deviates sums;
  std::size_t accepted = 0;
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    const double x = numbers[i], y = numbers[i + 1];
    numbers[accepted] = x;
    numbers[accepted + 1] = y;
    accepted += x * x + y * y <= 1 ? 2 : 0;
  }
  for (std::size_t i = 0; i < accepted; i += 2) {
    const double t = numbers[i] * numbers[i] + numbers[i + 1] * numbers[i + 1];
    const double scale = std::sqrt(-2 * std::log(t) / t);
    const double x = numbers[i] * scale, y = numbers[i + 1] * scale;
    sums.x += x;
    sums.y += y;
    ++sums.counts[static_cast<std::size_t>(std::min(9.0, std::max(std::abs(x), std::abs(y))))];
  }
  return sums;
}

// One pair after the other, as the specification has it.
Deviates plain_deviates(std::uint64_t seed, std::uint64_t first, std::uint64_t pairs) {
  Random46 random(seed, 2 * first);
  Deviates sums;
  for (std::uint64_t i = 0; i < pairs; ++i) {
    const double x = 2 * random.next() - 1, y = 2 * random.next() - 1, t = x * x + y * y;
    if (t > 1) continue;
    const double scale = std::sqrt(-2 * std::log(t) / t);
    sums.x += x * scale;
    sums.y += y * scale;
    ++sums.counts[static_cast<int>(std::max(std::abs(x * scale), std::abs(y * scale)))];
  }
  return sums;
}

void add(Deviates& to, const Deviates& more) {
  to.x += more.x;
  to.y += more.y;
  for (std::size_t i = 0; i < 10; ++i) to.counts[i] += more.counts[i];
}

std::uint64_t differences(const Deviates& a, const Deviates& b) {
  std::uint64_t wrong = std::equal(a.counts, a.counts + 10, b.counts) ? 0 : 1;
  if (!(std::abs(a.x - b.x) <= 1e-9 * most_of_batch)) ++wrong;
  if (!(std::abs(a.y - b.y) <= 1e-9 * most_of_batch)) ++wrong;
  return wrong;
}

}  // namespace

double Ep::operations(const ClassRow& row) const {
  return static_cast<double>(std::uint64_t{2} << row.size);
}

std::string Ep::size_text(const ClassRow& row) const {
  return fmt::format("{}", std::uint64_t{2} << row.size);
}

void Ep::change(ClassRow& row) const {
  row.iterations = 1;
  if (log2_pairs_ > 0) row.size = std::max<std::int64_t>(log2_pairs_, 4);
}

// The official sums, the totals of all ranks, and sums, counts and numbers of some batches.
std::uint64_t Ep::items(const ClassRow& row, const Plan& plan) const {
  return row.official.size() + 1 + std::min(batches_checked, Batches(row.size, plan.rank, plan.ranks).count);
}

std::uint64_t Ep::host_bytes(const ClassRow& row, const Plan& plan) const {
  return 16 * most_of_batch + sizeof(Deviates) * Batches(row.size, plan.rank, plan.ranks).count;
}

void Ep::set_up(Session&) {
  const Batches mine(problem().size, rank(), ranks());
  first_ = mine.first;
  batches_ = mine.count;
  numbers_.resize(2 * pairs_of_batch(problem().size));
  by_batch_.resize(batches_);
}

void Ep::restart() {
  own_ = {};
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  total_ = {nan, nan, {}};
  std::fill(by_batch_.begin(), by_batch_.end(), total_);
}

void Ep::batch(std::uint64_t number) {
  {
    const Part now = part(randn);
    fill_uniform(numbers_, seed(), (first_ + number) * numbers_.size());
  }
  const Part now = part(gpairs);
  by_batch_[number] = deviates_of(numbers_);
  add(own_, by_batch_[number]);
}

// The untimed iteration is one batch.
void Ep::iterate(std::uint64_t iteration) {
  for (std::uint64_t i = 0; i < (iteration == 0 ? std::min<std::uint64_t>(1, batches_) : batches_); ++i) batch(i);
  const Part now = part(ep_rcomm);
  reduce();
}

void Ep::reduce() {
  total_ = own_;
  double sums[] = {own_.x, own_.y};
  all_reduce(std::span<double>(sums), Fold::sum);
  total_.x = sums[0];
  total_.y = sums[1];
  all_reduce(std::span<std::int64_t>(total_.counts), Fold::sum);
}

void Ep::check(Checks& checks, std::uint64_t repetition) {
  const ClassRow row = problem();
  checks.found.reference = "the official sums, and batches computed again pair by pair";
  for (std::size_t i = 0; i < row.official.size(); ++i)
    checks.close(i == 0 ? "the sum of X" : "the sum of Y", i == 0 ? total_.x : total_.y, row.official[i]);
  // Another way than the reduction's: by the batches, through the world.
  Deviates mine, all;
  for (const Deviates& one : by_batch_) add(mine, one);
  for (const Deviates& one : gather_values(world(), mine)) add(all, one);
  checks.count("totals", 1, differences(total_, broadcast_value(world(), all)) > 0 ? 1 : 0);
  const std::uint64_t some = std::min(batches_checked, batches_), pairs = numbers_.size() / 2;
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < some; ++i) {
    const std::uint64_t number = (i * batches_ / some + repetition) % batches_;
    wrong += differences(by_batch_[number], plain_deviates(271828183, (first_ + number) * pairs, pairs)) > 0 ? 1 : 0;
  }
  checks.count("batches", some, wrong);
}

namespace {

const RegisteredBenchmark registered_ep("npb_ep", [] { return std::make_unique<Ep>(); });

}  // namespace

}  // namespace plumb::npb
