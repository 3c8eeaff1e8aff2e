// Ranks in rows and columns whose ends meet, each linked with its neighbours only: who is next to whom, and broadcasts
// that go along a row or a column from neighbour to neighbour.
#pragma once

#include "transport/transport.hpp"

namespace plumb {

class Torus {
 public:
  // Rank r stands in row r / columns and column r % columns. Throws UsageError when there are other than rows * columns
  // ranks.
  Torus(int rows, int columns, const World& world);

  int row() const { return row_; }
  int column() const { return column_; }
  // The rank there; rows and columns beyond the ends go on at the other.
  int at(int row, int column) const;

  // This rank's part of a broadcast of `view`, to the right along its row or down its column, from the rank of that
  // column or row. The one before the root sends no further. Rows and columns have lanes (links) of their own.
  Exchange row_broadcast(const BufferView& view, int root_column) const;
  Exchange column_broadcast(const BufferView& view, int root_row) const;

 private:
  int rows_, columns_, row_, column_;
};

}  // namespace plumb
