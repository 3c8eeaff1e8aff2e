// The permutation that a panel's row interchanges amount to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/hpcc/hpl/layout.hpp"

namespace plumb::hpl {

// Row begin + j was exchanged with row pivots[j], in order of j. Global rows.
struct Interchange {
  struct Move {
    std::size_t to = 0, from = 0;
  };
  std::vector<std::size_t> top;  // the row that moves to begin + i
  std::vector<Move> displaced;   // rows that leave the block, and their new places
};

Interchange interchange(const Step& step, std::span<const std::int64_t> pivots);

}  // namespace plumb::hpl
