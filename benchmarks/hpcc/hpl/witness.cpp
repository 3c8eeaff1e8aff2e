#include "benchmarks/hpcc/hpl/witness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "core/data.hpp"

namespace plumb::hpl {

namespace {

// Blocks as indices, dealt out to takers.
Dealt blocks_of(const Layout& layout, const Dealt& dealt) {
  return {layout.blocks(), 1, dealt.parts, dealt.own};
}

// The chosen index of each block.
std::vector<std::size_t> chosen(const Layout& layout, std::uint64_t seed) {
  std::vector<std::size_t> all;
  for (std::size_t k = 0; k < layout.blocks(); ++k) {
    const std::size_t begin = k * layout.block, width = std::min(layout.block, layout.n - begin);
    all.push_back(begin + mix64(mix64(seed) + k) % width);
  }
  return all;
}

// The row's place before the interchange of a step.
std::size_t before(const Interchange& moves, std::size_t begin, std::size_t row) {
  if (row < begin) return row;
  if (row < begin + moves.top.size()) return moves.top[row - begin];
  const auto found = std::ranges::lower_bound(moves.displaced, row, {}, &Interchange::Move::to);
  return found != moves.displaced.end() && found->to == row ? found->from : row;
}

// NaN, which a maximum would ignore, is infinite.
double size_of_factor(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : std::abs(value);
}

// The largest magnitude in this rank's part of L, without its diagonal.
double largest_of_lower(const Layout& layout, Form& form) {
  std::vector<std::uint64_t> lengths(layout.rows.count());
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = layout.columns.below(layout.rows.global(i));
  if (const std::optional<double> largest = form.largest_of_rows(lengths)) return *largest;
  double largest = 0;
  std::vector<double> row(layout.columns.count());
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    form.read_rows(i, row);
    for (std::size_t j = 0; j < lengths[i]; ++j) largest = std::max(largest, size_of_factor(row[j]));
  }
  return largest;
}

// Lines of L and of U, one per block, of n elements; zero in elements of other ranks.
class Lines {
 public:
  Lines(const Layout& layout, const Solver& solver, std::uint64_t seed)
      : layout_(layout), rows_(chosen(layout, seed)), columns_(chosen(layout, ~seed)) {
    const std::size_t blocks = layout.blocks();
    lower_.assign(blocks * layout.n, 0);
    upper_.assign(blocks * layout.n, 0);
    for (std::size_t s = 0; s < blocks; ++s) {
      std::size_t row = rows_[s];
      for (std::size_t k = blocks; k-- > 0;) {  // L of a panel is in the order before later interchanges
        if (k <= s) held_.emplace(row, Held{s, k});
        row = before(solver.moves(k), k * layout.block, row);
      }
      original_.push_back(row);
    }
  }

  // This rank's part.
  void read(Form& form) {
    std::vector<Run> runs;
    std::vector<double*> places;  // targets of the first `lengths` elements of each run
    std::vector<std::size_t> lengths;
    const auto take = [&](std::size_t width) {
      std::vector<double> values(runs.size() * width);
      form.read_runs(runs, width, values);
      for (std::size_t k = 0; k < runs.size(); ++k)
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(k * width), lengths[k], places[k]);
      runs.clear();
      places.clear();
      lengths.clear();
    };
    for (std::size_t panel = 0; panel < layout_.blocks(); ++panel) {
      const Step step = make_step(layout_, panel);
      if (!step.in_column) continue;
      for (const auto& [row, held] : held_) {
        if (held.panel != panel || layout_.rows.owner(row) != layout_.rows.own) continue;
        if (rows_[held.line] < step.begin) continue;
        runs.push_back({layout_.rows.below(row), step.column});
        places.push_back(&lower_[held.line * layout_.n + step.begin]);
        lengths.push_back(std::min(step.width, rows_[held.line] - step.begin));
      }
      take(step.width);
    }
    for (std::size_t t = 0; t < columns_.size(); ++t) {
      if (layout_.columns.owner(columns_[t]) != layout_.columns.own) continue;
      for (std::size_t i = 0; i < layout_.rows.below(columns_[t] + 1); ++i) {
        runs.push_back({i, layout_.columns.below(columns_[t])});
        places.push_back(&upper_[t * layout_.n + layout_.rows.global(i)]);
        lengths.push_back(1);
      }
      take(1);
    }
  }

  void add_up(const Teams& teams) {
    for (auto* lines : {&lower_, &upper_})
      for (std::size_t s = 0; s < layout_.blocks(); ++s) {
        const std::span<double> line = std::span(*lines).subspan(s * layout_.n, layout_.n);
        teams.row->all_reduce(line, Fold::sum);
        teams.column->all_reduce(line, Fold::sum);
      }
    for (std::size_t s = 0; s < layout_.blocks(); ++s) lower_[s * layout_.n + rows_[s]] = 1;
  }

  double largest_factor() const {
    double largest = 0;
    for (std::size_t s = 0; s < rows_.size(); ++s)  // left of the diagonal
      for (std::size_t k = 0; k < rows_[s]; ++k) largest = std::max(largest, size_of_factor(lower_[s * layout_.n + k]));
    return largest;
  }

  struct Element {
    double product = 0, size = 0;     // of L U at the element; of |L| |U|
    std::size_t row = 0, column = 0;  // of A
  };
  Element element(std::size_t s, std::size_t t) const {
    Element found{0, 0, original_[s], columns_[t]};
    const double *l = &lower_[s * layout_.n], *u = &upper_[t * layout_.n];
    for (std::size_t k = 0; k <= std::min(rows_[s], columns_[t]); ++k) {
      found.product += l[k] * u[k];
      found.size += std::abs(l[k] * u[k]);
    }
    return found;
  }

 private:
  struct Held {
    std::size_t line, panel;
  };

  Layout layout_;
  std::vector<std::size_t> rows_, columns_, original_;
  std::multimap<std::size_t, Held> held_;  // by their current row
  std::vector<double> lower_, upper_;
};

}  // namespace

double largest_factor(const Layout& layout, Form& form, const Teams& teams, const Witnesses& tiles) {
  double largest = largest_of_lower(layout, form);
  for (Team* team : {teams.row.get(), teams.column.get()}) largest = team->all_reduce(largest, Fold::maximum);
  return largest >= tiles.largest_factor ? largest : std::numeric_limits<double>::infinity();
}

std::uint64_t own_tiles(const Layout& layout) {
  return blocks_of(layout, layout.rows).count() * blocks_of(layout, layout.columns).count();
}

Witnesses check_tiles(const Matrix& matrix, const Layout& layout, double unit, Form& form, const Solver& solver,
                      const Teams& teams, std::uint64_t seed, double tolerance) {
  const double scale = unit * std::sqrt(static_cast<double>(layout.n));
  Lines lines(layout, solver, seed);
  lines.read(form);
  lines.add_up(teams);
  const Dealt rows = blocks_of(layout, layout.rows), columns = blocks_of(layout, layout.columns);
  Witnesses found;
  found.largest_factor = lines.largest_factor();
  std::mutex lock;
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < rows.count(); ++i)
    for (std::size_t j = 0; j < columns.count(); ++j) {
      const auto element = lines.element(rows.global(i), columns.global(j));
      const double should = matrix.element(element.row, element.column);
      double error = std::abs(should - element.product) / (scale * (element.size + std::abs(should)));
      if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
      const std::lock_guard one_at_a_time(lock);
      ++found.checked;
      found.wrong += error <= tolerance ? 0 : 1;
      if (error <= found.largest) continue;
      found.largest = error;
      found.detail = fmt::format("in tile ({}, {}) L U is {:.9g} where A has {:.9g}", rows.global(i), columns.global(j),
                                 element.product, should);
    }
  return found;
}

}  // namespace plumb::hpl
