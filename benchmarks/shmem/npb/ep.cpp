#include "benchmarks/shmem/npb/ep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "benchmarks/shmem/npb/lanes.hpp"
#include "world/collect.hpp"

namespace plumb::npb {

namespace {

enum EpPhase : std::size_t { gpairs, randn, ep_rcomm };
constexpr std::uint64_t most_of_batch = 1 << 16;  // pairs
constexpr std::uint64_t batches_checked = 8;      // of a rank, at most

std::uint64_t pairs_of_batch(std::int64_t log2_pairs) {
  return std::min(most_of_batch, std::uint64_t{1} << log2_pairs);
}

Share batches_of(std::int64_t log2_pairs, int rank, int ranks) {
  return share_of((std::uint64_t{1} << log2_pairs) / pairs_of_batch(log2_pairs), rank, ranks);
}

// Numbers of the sequence as 2r - 1, from `first` on: those at even places, then those at odd ones. Sixteen sequences
// side by side, each with its own step, fill vector registers.
void fill_uniform(std::span<double> numbers, std::uint64_t seed, std::uint64_t first) {
  constexpr std::size_t sequences = 16;
  constexpr std::uint64_t mask = (std::uint64_t{1} << 46) - 1;
  const std::size_t half = numbers.size() / 2;
  Random46 unit(1, 2 * sequences - 1);  // its next number is a^32
  const auto step = static_cast<std::uint64_t>(unit.next() * 0x1p46);
  for (const std::size_t odd : {0, 1}) {
    Random46 random(seed, first);
    double* const to = numbers.data() + odd * half;
    std::array<std::uint64_t, sequences> x{};
    for (std::size_t i = 0; i < 2 * sequences; ++i) {
      const auto number = static_cast<std::uint64_t>(random.next() * 0x1p46);
      if (i % 2 == odd) x[i / 2] = number;
    }
    with_lanes([&]<class V> [[gnu::always_inline]] () {
      std::array<std::uint64_t, sequences> at = x;
      for (std::size_t i = 0; i < half; i += sequences)
        for (std::size_t lane = 0; lane < sequences; ++lane) {
          // 2^52 in the exponent: a whole number below it becomes a double without a conversion.
          const std::uint64_t bits = at[lane] | 0x4330000000000000;
          to[i + lane] = (std::bit_cast<double>(bits) - 0x1p52) * 0x1p-45 - 1;
          at[lane] = at[lane] * step & mask;
        }
    });
  }
}

// Logarithms of numbers above 0, to some roundings: 2^e m with m within a factor of sqrt(2) of 1, and
// log m = 2 (s + s^3/3 + s^5/5 + ...), s = (m - 1)/(m + 1) up to 0.172.
template <class V>
[[gnu::always_inline]] inline V logarithms(const V& values) {
  using Bits = BitsOf<V>;
  const Bits bits = reinterpret_cast<Bits>(values);
  V m = reinterpret_cast<V>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  const Bits above = m > splat<V>(1.41421356237309505);  // -1 where true
  m = above ? .5 * m : m;
  // 1.5 2^52 holds a whole number in its last bits.
  const Bits exponent = (bits >> 52) - 1023 - above + 0x4338000000000000;
  const V e = reinterpret_cast<V>(exponent) - 0x1.8p52;
  const V s = (m - 1) / (m + 1), q = s * s;
  V sum = splat<V>(1. / 23);
#pragma GCC unroll 11
  for (int i = 21; i > 1; i -= 2) sum = sum * q + 1. / i;
  return e * 0.69314718055994530942 + 2 * (s + s * q * sum);
}

// Pairs that are not accepted get the radius 1, whose deviates are 0.
Deviates deviates_of(std::span<const double> numbers) {
  Deviates sums;
  with_lanes([&]<class V> [[gnu::always_inline]] () {
    using Bits = BitsOf<V>;
    const std::size_t pairs = numbers.size() / 2;
    V sum_x{}, sum_y{};
    Bits rejected{}, at_least[9] = {};  // each counts down
    for (std::size_t i = 0; i < pairs; i += width<V>) {
      const V x = load<V, true>(numbers.data() + i), y = load<V, true>(numbers.data() + pairs + i);
      const V t = x * x + y * y, one = splat<V>(1);
      const Bits outside = t > one;
      const V inside = outside ? one : t;
      const V scale = root(-2 * logarithms(inside) / inside);
      const V dx = x * scale, dy = y * scale;
      sum_x += dx;
      sum_y += dy;
      rejected += outside;
      const V ax = dx < 0 ? -dx : dx, ay = dy < 0 ? -dy : dy, largest = ax > ay ? ax : ay;
      for (int l = 0; l < 9; ++l) at_least[l] += largest >= splat<V>(l + 1);
    }
    std::int64_t above = static_cast<std::int64_t>(pairs);
    for (int lane = 0; lane < width<V>; ++lane) {
      sums.x += sum_x[lane];
      sums.y += sum_y[lane];
      above += rejected[lane];
    }
    for (int l = 0; l < 10; ++l) {
      std::int64_t next = 0;
      for (int lane = 0; lane < width<V> && l < 9; ++lane) next -= at_least[l][lane];
      sums.counts[l] = above - next;
      above = next;
    }
  });
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
  return row.official.size() + 1 + std::min(batches_checked, batches_of(row.size, plan.rank, plan.ranks).count());
}

std::uint64_t Ep::host_bytes(const ClassRow& row, const Plan& plan) const {
  return 16 * most_of_batch + sizeof(Deviates) * batches_of(row.size, plan.rank, plan.ranks).count();
}

void Ep::set_up(Session&) {
  batches_ = batches_of(problem().size, rank(), ranks());
  numbers_.resize(2 * pairs_of_batch(problem().size));
  by_batch_.resize(batches_.count());
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
    fill_uniform(numbers_, seed(), (batches_.first + number) * numbers_.size());
  }
  const Part now = part(gpairs);
  by_batch_[number] = deviates_of(numbers_);
  add(own_, by_batch_[number]);
}

// The untimed iteration is one batch.
void Ep::iterate(std::uint64_t iteration) {
  const std::uint64_t all = batches_.count();
  for (std::uint64_t i = 0; i < (iteration == 0 ? std::min<std::uint64_t>(1, all) : all); ++i) batch(i);
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
  const std::uint64_t own = batches_.count(), some = std::min(batches_checked, own), pairs = numbers_.size() / 2;
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < some; ++i) {
    const std::uint64_t number = (i * own / some + repetition) % own;
    wrong +=
        differences(by_batch_[number], plain_deviates(271828183, (batches_.first + number) * pairs, pairs)) > 0 ? 1 : 0;
  }
  checks.count("batches", some, wrong);
}

namespace {

const RegisteredBenchmark registered_ep("npb_ep", [] { return std::make_unique<Ep>(); });

}  // namespace

}  // namespace plumb::npb
