#include "transport/patterns/torus.hpp"

#include <fmt/format.h>

namespace plumb {

namespace {

constexpr int along_rows = 0, along_columns = 1;  // lanes

int wrapped(int place, int length) {
  return (place % length + length) % length;
}

// The rank `distance` links from the root, in a ring of `length`.
Exchange forwarding(int distance, int length, const Transfer& to_next, const Transfer& from_last) {
  Exchange exchange;
  if (distance > 0) exchange.steps.push_back({{}, {from_last}});
  if (distance + 1 < length) exchange.steps.push_back({{to_next}, {}});
  return exchange;
}

}  // namespace

Torus::Torus(int rows, int columns, const World& world) : rows_(rows), columns_(columns) {
  if (rows < 1 || columns < 1 || rows * columns != world.size())
    throw UsageError(fmt::format("a torus of {} x {} needs {} ranks, but there are {}", rows, columns, rows * columns,
                                 world.size()));
  row_ = world.rank() / columns;
  column_ = world.rank() % columns;
}

int Torus::at(int row, int column) const {
  return wrapped(row, rows_) * columns_ + wrapped(column, columns_);
}

Exchange Torus::row_broadcast(const BufferView& view, int root_column) const {
  return forwarding(wrapped(column_ - root_column, columns_), columns_, {at(row_, column_ + 1), along_rows, {view}},
                    {at(row_, column_ - 1), along_rows, {view}});
}

Exchange Torus::column_broadcast(const BufferView& view, int root_row) const {
  return forwarding(wrapped(row_ - root_row, rows_), rows_, {at(row_ + 1, column_), along_columns, {view}},
                    {at(row_ - 1, column_), along_columns, {view}});
}

}  // namespace plumb
