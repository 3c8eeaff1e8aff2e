// Distribution of a matrix's blocks over ranks, and their order on each rank; pure arithmetic.
//
// A matrix of n x n numbers is cut into blocks of b x b, truncated in the last row and column if b does not divide n.
// A, B and C have the same distribution. Block (I, J) of C needs block (J, I) of A, so a rank sends another exactly
// those of its blocks whose mirror images are there, and receives as many.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::ptrans {

// Block-cyclic over `rows` x `columns` ranks: block (I, J) is on rank (I mod rows) * columns + J mod columns.
struct Grid {
  int rows = 1, columns = 1;  // P, Q
  int ranks() const { return rows * columns; }
  std::string text() const;  // "2 x 3"
};

// All grids of that many ranks, from 1 x ranks on.
std::vector<Grid> grids_of(int ranks);
// The grid nearest to a square, with no more rows than columns.
Grid squarest(int ranks);

struct Problem {
  std::uint64_t size = 0, block = 1;                                   // n, b
  std::uint64_t blocks() const { return (size + block - 1) / block; }  // per row
  // Numbers in rows of blocks begin to end.
  std::uint64_t extent(std::uint64_t index) const { return index + 1 < blocks() ? block : size - index * block; }
};

// pq: over a grid. diagonal: ranks in pairs, one with block (I, J) and the other with (J, I), so each has one partner;
// blocks of the diagonal are distributed over all ranks. With an odd number of ranks the last one has no partner: it
// gets the diagonal, and both blocks of as many pairs as complete its share.
class Distribution {
 public:
  static Distribution pq(const Problem& problem, const Grid& grid) { return {problem, grid, false}; }
  static Distribution diagonal(const Problem& problem, int ranks) { return {problem, {1, ranks}, true}; }

  int ranks() const { return grid_.ranks(); }
  const Problem& problem() const { return problem_; }
  int owner(std::uint64_t row, std::uint64_t column) const;  // rank of a block

  // Number of blocks by rank, and a rank's partners (without itself), ascending.
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
  std::uint64_t pairs_ = 0, local_pairs_ = 0;  // pairs of mirrored blocks; pairs of the odd last rank
};

// Position of a block in a part: `rows` x `columns` numbers, row-major, contiguous, from number `at` on.
struct Block {
  std::uint64_t top = 0, left = 0;  // row and column of its first number in the whole matrix
  std::uint64_t rows = 0, columns = 0, at = 0;
  std::uint64_t items() const { return rows * columns; }
};

// A run of a rank's blocks whose mirror images are all on one rank, its partner or itself. The k-th block here is the
// mirror image of the k-th block there, so A's part is a message as stored, and the message received has its blocks in
// the order of C's part. Within a rank, the mirror image is another block of the same part.
struct Portion {
  int partner = 0;
  std::uint64_t stage = 0;
  std::vector<Block> blocks;
  std::uint64_t items = 0;  // number of elements

  // Index of the block that contains number `at`.
  const Block& block_of(std::uint64_t at) const;
};

// Blocks of a rank, by partner: exchanged ones are cut into at most `stages` parts, contiguous by stage (empty parts
// are omitted); the rank's own are one part, in stage 0.
std::vector<Portion> parts_of(const Distribution& distribution, int rank, std::uint64_t stages);

// The same part on the partner: mirrored blocks at the same positions.
Portion mirrored(const Portion& part, int rank);

}  // namespace plumb::ptrans
