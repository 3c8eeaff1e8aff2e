// Ranks in a torus of rows and columns, linked to their neighbours only: positions, and broadcasts along a row or a
// column from neighbour to neighbour.
#pragma once

#include "transport/transport.hpp"

namespace plumb {

class Torus {
 public:
  // Rank r is in row r / columns and column r % columns. Throws UsageError unless there are rows * columns ranks.
  Torus(int rows, int columns, const World& world);

  int row() const { return row_; }
  int column() const { return column_; }
  // The rank at a position, modulo the number of rows and columns.
  int at(int row, int column) const;

  // This rank's part of a broadcast of `view`, to the right along its row or down its column, from the rank of that
  // column or row. The rank before the root does not send. Rows and columns use different lanes (links).
  Exchange row_broadcast(const BufferView& view, int root_column) const;
  Exchange column_broadcast(const BufferView& view, int root_row) const;

 private:
  int rows_, columns_, row_, column_;
};

}  // namespace plumb
