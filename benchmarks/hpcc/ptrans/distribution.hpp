// Which rank has which blocks of a matrix, and in which order a rank keeps them; pure arithmetic, no device.
//
// A matrix of n x n numbers is cut into blocks of b x b, those of the last row and column cut off where b does not
// divide n. A, B and C are dealt out alike. Block (I, J) of C needs block (J, I) of A, so a rank sends another exactly
// those of its blocks whose mirror images lie there, and gets as many back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::ptrans {

// Block-cyclic over `rows` x `columns` ranks: block (I, J) lies on rank (I mod rows) * columns + J mod columns.
struct Grid {
  int rows = 1, columns = 1;  // P, Q
  int ranks() const { return rows * columns; }
  std::string text() const;  // "2 x 3"
};

// Of all grids of so many ranks, from 1 x ranks on.
std::vector<Grid> grids_of(int ranks);
// The one that is nearest to a square, with no more rows than columns.
Grid squarest(int ranks);

struct Problem {
  std::uint64_t size = 0, block = 1;                                   // n, b
  std::uint64_t blocks() const { return (size + block - 1) / block; }  // of a row
  // Numbers from the edge of a row of blocks to the other.
  std::uint64_t extent(std::uint64_t index) const { return index + 1 < blocks() ? block : size - index * block; }
};

// pq: over a grid. diagonal: ranks in pairs, of which one has the block (I, J) and the other (J, I), so that each has
// one partner; blocks of the diagonal on all ranks in turn. Of an odd number of ranks the last has no partner: it gets
// the diagonal, and both blocks of as many pairs as make its share whole.
class Distribution {
 public:
  static Distribution pq(const Problem& problem, const Grid& grid) { return {problem, grid, false}; }
  static Distribution diagonal(const Problem& problem, int ranks) { return {problem, {1, ranks}, true}; }

  int ranks() const { return grid_.ranks(); }
  const Problem& problem() const { return problem_; }
  int owner(std::uint64_t row, std::uint64_t column) const;  // of a block

  // Numbers of blocks by rank, and ranks (itself left out) that each exchanges blocks with, in rising order.
  struct Shares {
    std::vector<std::uint64_t> blocks;
    std::vector<std::vector<int>> partners;
    bool all_have_blocks() const;
    bool at_most_one_partner() const;
  };
  Shares shares() const;

 private:
  Distribution(const Problem& problem, const Grid& grid, bool diagonal);

  Problem problem_;
  Grid grid_;
  bool diagonal_;
  std::uint64_t pairs_ = 0, local_pairs_ = 0;  // of blocks mirrored in the diagonal; those of the last, odd rank
};

// A block where it lies in a part: `rows` x `columns` numbers, row by row without gaps, from number `at` on.
struct Block {
  std::uint64_t top = 0, left = 0;  // of the whole matrix: the row and column of its first number
  std::uint64_t rows = 0, columns = 0, at = 0;
  std::uint64_t items() const { return rows * columns; }
};

// A run of a rank's blocks whose mirror images all lie on one rank, its partner or itself. The k-th block here is the
// mirror image of the k-th block there, so A's part is a message as it lies, and what comes in return lies block by
// block where C's part does. Within the rank itself the mirror image is another block of the same part.
struct Portion {
  int partner = 0;
  std::uint64_t stage = 0;
  std::vector<Block> blocks;
  std::uint64_t items = 0;  // numbers

  // Which block number `at` belongs to.
  const Block& block_of(std::uint64_t at) const;
};

// What rank `rank` keeps, by partner: what is exchanged cut into at most `stages` parts, all of a stage one behind the
// other (parts without blocks are left out); what it needs of itself is one part, of stage 0.
std::vector<Portion> parts_of(const Distribution& distribution, int rank, std::uint64_t stages);

// The same part as it lies with the partner: mirrored blocks at the same places.
Portion mirrored(const Portion& part, int rank);

}  // namespace plumb::ptrans
