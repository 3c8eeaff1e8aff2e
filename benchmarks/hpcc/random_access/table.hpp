// Distribution of tables and updates over ranks. Pure arithmetic.
#pragma once

#include <cstdint>
#include <vector>

namespace plumb::random_access {

// Words `first` to `first + words - 1` of a table.
struct TableRange {
  std::uint64_t first = 0, words = 0;
};

// Task of one rank.
struct Task {
  int log2_table = 0;              // words of the whole table
  TableRange part;                 // of that table, on this rank
  std::uint64_t content = 0;       // word i of the table is initially content + i
  std::uint64_t first_update = 0;  // of the stream
  std::uint64_t updates = 0;       // generated here; updates outside the part belong to other ranks
};

// A table of 2^log2_words words for each rank, with its own run of the stream (HPCC's "star").
Task own_table(int log2_words, int rank);
// One table for all (HPCC FPGA): the largest power of two of words up to ranks * 2^log2_words, in parts whose sizes
// differ by at most one word. Every rank generates all updates and applies those in its part.
Task shared_table(int log2_words, int rank, int ranks);

// A part cut into `count`, one per replication, whose sizes differ by at most one word.
std::vector<TableRange> split(const TableRange& part, std::uint64_t count);

}  // namespace plumb::random_access
