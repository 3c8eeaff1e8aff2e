// What a panel's row interchanges come to, all of them together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/hpcc/hpl/layout.hpp"

namespace plumb::hpl {

// Row begin + j was exchanged with row pivots[j], one after the other. Global rows.
struct Interchange {
  struct Move {
    std::size_t to = 0, from = 0;
  };
  std::vector<std::size_t> top;  // which row comes to begin + i
  std::vector<Move> displaced;   // rows of the block that go below it, and where to
};

Interchange interchange(const Step& step, std::span<const std::int64_t> pivots);

}  // namespace plumb::hpl
