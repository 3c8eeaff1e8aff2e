#include "benchmarks/hpcc/b_eff/ring.hpp"

#include <algorithm>
#include <numeric>

namespace plumb::b_eff {

std::vector<int> natural_ring(int ranks) {
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int> random_ring(int ranks, std::uint64_t seed) {
  std::vector<int> order = natural_ring(ranks);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[mix64(mix64(seed) + i) % i]);
  return order;
}

int Place::at(std::int64_t distance) const {
  const std::int64_t n = size();
  const std::int64_t p = ((position + distance) % n + n) % n;
  return order[static_cast<std::size_t>(p)];
}

Place place_in(std::vector<int> order, int rank) {
  const auto found = std::find(order.begin(), order.end(), rank);
  const int position = static_cast<int>(found - order.begin());
  return {std::move(order), position};
}

std::uint64_t LoopFormula::length(int exponent) const {
  const std::int64_t steps = std::max<std::int64_t>(0, exponent - offset);
  return static_cast<std::uint64_t>(std::max(upper - steps * (upper - lower) / decrease, lower));
}

}  // namespace plumb::b_eff
