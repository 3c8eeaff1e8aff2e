// The serial computation, row by row, that the variants are compared with.
#pragma once

#include <functional>

#include "benchmarks/shmem/ssca1/ends.hpp"

namespace plumb::ssca1 {

struct Range {
  std::uint64_t begin = 0, end = 0;
};

// Ends of alignments of more than `minimum` that lie within the two ranges, in the order of rows. `progress` is called
// after each row.
std::vector<End> oracle(
    const Strings& strings, const Scores& scores, std::int64_t minimum, Range main, Range match,
    const std::function<void()>& progress = [] {});

// The same, one by one: ends closer than `separation` to one of the kept are dropped.
std::vector<End> select_plainly(std::vector<End> ends, std::uint64_t separation, std::size_t reports);

}  // namespace plumb::ssca1
