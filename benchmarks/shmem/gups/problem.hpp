// Distribution of one table and its updates over all ranks. Pure arithmetic.
#pragma once

#include <cstdint>

#include "benchmarks/hpcc/random_access/stream.hpp"
#include "benchmarks/hpcc/random_access/table.hpp"

namespace plumb::gups {

using random_access::Stream;
using random_access::TableRange;
using random_access::Task;

// HPCC's limit: updates of a rank generated but not yet applied.
inline constexpr std::uint64_t look_ahead = 1024;

// The next word of a stream.
inline std::uint64_t after(Stream stream, std::uint64_t word) {
  if (stream == Stream::lcg) return random_access::lcg_factor * word + 1;
  return (word << 1) ^ ((word >> 63) * 7);
}

// A word of the table: its rank and its index there.
struct Target {
  int rank;
  std::uint64_t word;
};

// The largest power of two of words up to ranks * 2^log2_words, in parts by rank that differ by at most one word; four
// updates per word. A rank generates four times its number of words, from 4 * its first word on.
class Problem {
 public:
  Problem(Stream stream, int log2_words, int ranks);

  Stream stream() const { return stream_; }
  int ranks() const { return ranks_; }
  std::uint64_t words() const { return std::uint64_t{1} << log2_table_; }
  TableRange part(int rank) const;
  std::uint64_t words_of_rank() const { return least_ + (longer_ > 0 ? 1 : 0); }  // maximum over ranks
  // The rank's part of the table with all updates of all ranks, for the replay.
  Task task(int rank) const;

  Target target(std::uint64_t word) const {
    const std::uint64_t place = stream_ == Stream::lcg ? word >> (64 - log2_table_) : word & (words() - 1);
    if (shift_ >= 0) return {static_cast<int>(place >> shift_), place & (least_ - 1)};
    if (place < longer_ * (least_ + 1)) return {static_cast<int>(place / (least_ + 1)), place % (least_ + 1)};
    const std::uint64_t after_longer = place - longer_ * (least_ + 1);
    return {static_cast<int>(longer_ + after_longer / least_), after_longer % least_};
  }

 private:
  Stream stream_;
  int ranks_, log2_table_;
  std::uint64_t least_, longer_;  // minimum words per rank; number of ranks with one more
  int shift_;                     // log2 of least_ if all ranks have equally many, otherwise -1
};

// Task of one rank: updates `first` to `first + count - 1` of the stream.
struct Share {
  std::uint64_t first = 0, count = 0;
};

}  // namespace plumb::gups
