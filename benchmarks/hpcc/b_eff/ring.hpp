// Partners and loop lengths of b_eff, by arithmetic alone.
#pragma once

#include <cstdint>
#include <vector>

#include "core/data.hpp"

namespace plumb::b_eff {

// Ranks by position: natural order, or a seeded shuffle equal on all ranks (Fisher-Yates).
std::vector<int> natural_ring(int ranks);
std::vector<int> random_ring(int ranks, std::uint64_t seed);

// A rank's position in a ring.
struct Place {
  std::vector<int> order;  // rank by position
  int position = 0;

  int size() const { return static_cast<int>(order.size()); }
  // The rank `distance` positions to the right (left if negative).
  int at(std::int64_t distance) const;
  int right() const { return at(1); }
  int left() const { return at(-1); }
};
Place place_in(std::vector<int> order, int rank);

// HPCC FPGA's loop length for a message of 2^exponent bytes: max(u - max(0, i - o) * (u - l) / d, l).
struct LoopFormula {
  std::int64_t upper = 65536, lower = 256, offset = 11, decrease = 7;
  std::uint64_t length(int exponent) const;
};

}  // namespace plumb::b_eff
