// The proof of RandomAccess: the stream is generated once more, by the host and by other means than the kernels use,
// and applied to what they left. Xor undoes itself, so a right table is back at its initial content.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "benchmarks/hpcc/random_access/stream.hpp"
#include "benchmarks/hpcc/random_access/table.hpp"

namespace plumb::random_access {

struct Replayed {
  std::uint64_t wrong = 0;        // words that are not what all updates make of them
  std::uint64_t unexplained = 0;  // of these, words that no loss of updates makes what they are
  std::string detail;  // of the first wrong word, or of the first unexplained one where there is one; "" when none
};

// `table` is the task's part, as the kernels left it; afterwards each word is what is wrong with it (0 when nothing). A
// wrong word is explained when some of its updates, though not all, are missing from it: of two that overlap in time
// one is lost. Wrong words are explained only up to `explain` of them; above, they are counted.
Replayed replay(Stream stream, const Task& task, std::span<std::uint64_t> table, std::uint64_t explain);

// The same where other runs of the stream than the task's were applied.
struct Run {
  std::uint64_t first = 0, count = 0;  // updates
};
Replayed replay(Stream stream, const Task& task, std::span<const Run> runs, std::span<std::uint64_t> table,
                std::uint64_t explain);

// The word before update n by linear maps (for tests: the kernels start from start()).
std::uint64_t word_before(Stream stream, std::uint64_t update);

}  // namespace plumb::random_access
