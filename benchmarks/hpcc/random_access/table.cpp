#include "benchmarks/hpcc/random_access/table.hpp"

#include <bit>

namespace plumb::random_access {

Task own_table(int log2_words, int rank) {
  const std::uint64_t words = std::uint64_t{1} << log2_words;
  const std::uint64_t before = words * static_cast<std::uint64_t>(rank);
  return {log2_words, {0, words}, before, 4 * before, 4 * words};
}

Task shared_table(int log2_words, int rank, int ranks) {
  const int log2_table = log2_words + static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))) - 1;
  const std::uint64_t words = std::uint64_t{1} << log2_table;
  const std::vector<TableRange> parts = split({0, words}, static_cast<std::uint64_t>(ranks));
  return {log2_table, parts[static_cast<std::size_t>(rank)], 0, 0, 4 * words};
}

std::vector<TableRange> split(const TableRange& part, std::uint64_t count) {
  const std::uint64_t least = part.words / count, longer = part.words % count;
  std::vector<TableRange> parts(count);
  std::uint64_t first = part.first;
  for (std::uint64_t i = 0; i < count; ++i) {
    parts[i] = {first, least + (i < longer ? 1 : 0)};
    first += parts[i].words;
  }
  return parts;
}

}  // namespace plumb::random_access
