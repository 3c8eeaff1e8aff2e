#include "benchmarks/hpcc/hpl/layout.hpp"

#include <fmt/format.h>

namespace plumb::hpl {

Layout make_layout(std::size_t n, std::size_t block, int grid_rows, int grid_columns, int rank) {
  const auto p = static_cast<std::size_t>(grid_rows), q = static_cast<std::size_t>(grid_columns),
             r = static_cast<std::size_t>(rank);
  return {n, block, {n, block, p, r / q}, {n, block, q, r % q}};
}

std::vector<std::pair<int, int>> grids(int ranks) {
  std::vector<std::pair<int, int>> all;
  for (int rows = 1; rows * rows <= ranks; ++rows)
    if (ranks % rows == 0) {
      if (rows * rows != ranks) all.emplace_back(ranks / rows, rows);
      all.emplace_back(rows, ranks / rows);
    }
  return {all.rbegin(), all.rend()};
}

std::string grid_text(int ranks) {
  std::string text;
  for (const auto& [rows, columns] : grids(ranks))
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", rows, columns);
  return text;
}

Step make_step(const Layout& layout, std::size_t index) {
  Step step;
  step.index = index;
  step.begin = index * layout.block;
  step.width = std::min(layout.block, layout.n - step.begin);
  step.owner_row = index % layout.rows.parts;
  step.owner_column = index % layout.columns.parts;
  step.in_row = step.owner_row == layout.rows.own;
  step.in_column = step.owner_column == layout.columns.own;
  step.row = layout.rows.below(step.begin);
  step.below = layout.rows.below(step.begin + step.width);
  step.column = layout.columns.below(step.begin);
  step.right = layout.columns.below(step.begin + step.width);
  return step;
}

}  // namespace plumb::hpl
