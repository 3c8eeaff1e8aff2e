#include "benchmarks/shmem/gups/problem.hpp"

#include <algorithm>
#include <bit>

namespace plumb::gups {

Problem::Problem(Stream stream, int log2_words, int ranks) : stream_(stream), ranks_(ranks) {
  const Task last = random_access::shared_table(log2_words, ranks - 1, ranks);
  log2_table_ = last.log2_table;
  least_ = last.part.words;
  longer_ = words() % static_cast<std::uint64_t>(ranks);
  shift_ = longer_ == 0 ? std::countr_zero(least_) : -1;
}

TableRange Problem::part(int rank) const {
  const auto place = static_cast<std::uint64_t>(rank);
  return {place * least_ + std::min(place, longer_), least_ + (place < longer_ ? 1 : 0)};
}

Task Problem::task(int rank) const {
  return {log2_table_, part(rank), 0, 0, 4 * words()};
}

}  // namespace plumb::gups
