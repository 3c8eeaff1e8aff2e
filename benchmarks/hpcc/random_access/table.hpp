// Which words of which table a rank holds, and which updates it applies, as arithmetic. Knows no device.
#pragma once

#include <cstdint>
#include <vector>

namespace plumb::random_access {

// Words `first` to `first + words - 1` of a table.
struct TableRange {
  std::uint64_t first = 0, words = 0;
};

// What one rank does.
struct Task {
  int log2_table = 0;              // words of the table that places in it are counted in
  TableRange part;                 // of that table, on this rank
  std::uint64_t content = 0;       // word i of the table is content + i at the start
  std::uint64_t first_update = 0;  // of the stream
  std::uint64_t updates = 0;       // that are generated here; those outside the part are another rank's
};

// Every rank has a table of its own of 2^log2_words words, and a run of the stream of its own (HPCC's "star").
Task own_table(int log2_words, int rank);
// One table for all (HPCC FPGA): the largest power of two of words that is not above ranks * 2^log2_words, in parts
// that differ by one word at most. Every rank generates all updates and applies those to its part.
Task shared_table(int log2_words, int rank, int ranks);

// A part cut into `count`, one for each replication, which differ by one word at most.
std::vector<TableRange> split(const TableRange& part, std::uint64_t count);

}  // namespace plumb::random_access
