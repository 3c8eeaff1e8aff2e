// Who exchanges what with whom in b_eff, as arithmetic: ring order, message slots, loop lengths. Knows no device.
#pragma once

#include <cstdint>
#include <vector>

#include "core/pattern.hpp"

namespace plumb::b_eff {

// Ranks by position: the natural order, or a seeded shuffle that is the same on every rank (Fisher-Yates).
std::vector<int> natural_ring(int ranks);
std::vector<int> random_ring(int ranks, std::uint64_t seed);

// A rank's place in a ring.
struct Place {
  std::vector<int> order;  // rank by position
  int position = 0;

  int size() const { return static_cast<int>(order.size()); }
  // The rank that stands `distance` positions to the right (left when negative).
  int at(std::int64_t distance) const;
  int right() const { return at(1); }
  int left() const { return at(-1); }
};
Place place_in(std::vector<int> order, int rank);

// How messages take turns with a lane's slots, so that what the slots hold at the end tells how many windows there
// were: each window fills the next of `sets` sets of slots, and each of its `messages` goes into the slot after its
// own. The same again is there only after a common multiple of ring, sets and messages.
struct Turns {
  std::uint64_t ring = 1, messages = 1, sets = 3;
  // Whether a loop of so many windows would end as if it had made none, or (in a transport that loses them) half of
  // them.
  bool hide(std::uint64_t windows) const;
};

// The fewest sets with which a loop of `windows` is not hidden; 0: the engine will choose one of telling_windows().
Turns turns_for(int ring, std::uint64_t messages, std::uint64_t windows);
// The nearest number of windows, not below wanted, that is told from none and half, and ends in the second set.
std::uint64_t telling_windows(std::uint64_t wanted, const Turns& turns);

// HPCC FPGA's loop length for a message of 2^exponent bytes: max(u - max(0, i - o) * (u - l) / d, l).
struct LoopFormula {
  std::int64_t upper = 65536, lower = 256, offset = 11, decrease = 7;
  std::uint64_t length(int exponent) const;
};

}  // namespace plumb::b_eff
