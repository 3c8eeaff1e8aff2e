// Validation of RandomAccess: the host generates the stream again, by a different method, and applies it to the result.
// As xor is its own inverse, a right table returns to its initial content.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "benchmarks/hpcc/random_access/stream.hpp"
#include "benchmarks/hpcc/random_access/table.hpp"

namespace plumb::random_access {

struct Replayed {
  std::uint64_t wrong = 0;        // words that differ from the result of all updates
  std::uint64_t unexplained = 0;  // of these, words not explained by any loss of updates
  std::string detail;             // of the first unexplained word, otherwise the first wrong one; "" if none
};

// `table` is the task's part after the run; on return each word holds its error (0 if right). A wrong word is explained
// if some, but not all, of its updates are missing: of two that overlap in time one is lost. At most `explain` wrong
// words are explained; with more, they are only counted.
Replayed replay(Stream stream, const Task& task, std::span<std::uint64_t> table, std::uint64_t explain);

// Likewise for other runs of the stream than the task's.
struct Run {
  std::uint64_t first = 0, count = 0;  // updates
};
Replayed replay(Stream stream, const Task& task, std::span<const Run> runs, std::span<std::uint64_t> table,
                std::uint64_t explain);

// The word before update n by linear maps (for tests: the kernels use start()).
std::uint64_t word_before(Stream stream, std::uint64_t update);

}  // namespace plumb::random_access
