// Distribution of a matrix of n rows and columns over a grid of P x Q ranks: in blocks, dealt out by rows and by
// columns (two-dimensional block-cyclic, as in HPL and ScaLAPACK). Rank r is in row r / Q and column r % Q.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace plumb::hpl {

// Indices of one of `parts` takers, of n dealt out in blocks.
struct Dealt {
  std::size_t n = 0, block = 1, parts = 1, own = 0;

  std::size_t owner(std::size_t global) const { return global / block % parts; }
  // The number of this taker's indices below `global`, so its first local index from there on.
  std::size_t below(std::size_t global) const {
    const std::size_t full = global / block, rest = global % block;
    const std::size_t blocks = full / parts + (own < full % parts ? 1 : 0);
    return blocks * block + (full % parts == own ? rest : 0);
  }
  std::size_t count() const { return below(n); }
  std::size_t global(std::size_t local) const { return (local / block * parts + own) * block + local % block; }
};

struct Layout {
  std::size_t n = 0, block = 1;
  Dealt rows, columns;

  std::size_t blocks() const { return (n + block - 1) / block; }
  bool owns(std::size_t row, std::size_t column) const {
    return rows.owner(row) == rows.own && columns.owner(column) == columns.own;
  }
};

Layout make_layout(std::size_t n, std::size_t block, int grid_rows, int grid_columns, int rank);

// The grids of the given number of ranks, the most square first: "2 x 3, 3 x 2, 1 x 6, 6 x 1".
std::vector<std::pair<int, int>> grids(int ranks);
std::string grid_text(int ranks);

// One step of the factorisation on this rank: block column `index`, of indices begin .. begin + width.
struct Step {
  std::size_t index = 0, begin = 0, width = 0;
  std::size_t owner_row = 0, owner_column = 0;  // of the diagonal block, in the grid
  bool in_row = false, in_column = false;       // whether this rank is in that row, that column, of the grid
  std::size_t row = 0, below = 0;               // first local row of the block or behind it; first behind the block
  std::size_t column = 0, right = 0;            // likewise for columns

  bool owns() const { return in_row && in_column; }
};

Step make_step(const Layout& layout, std::size_t index);

}  // namespace plumb::hpl
