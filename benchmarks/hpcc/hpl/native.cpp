// Runtime `native`: the matrix by rows in the process's memory, so that rows are exchanged as runs of bytes; a panel
// by columns during its factorisation, in which columns are searched and scaled.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "benchmarks/hpcc/hpl/form.hpp"
#include "benchmarks/hpcc/hpl/native_loops.hpp"
#include "benchmarks/hpcc/hpl/products.hpp"
#include "core/data.hpp"
#include "device/host_share.hpp"

namespace plumb::hpl {

namespace {

constexpr std::size_t narrow = 8;  // of a panel, eliminated one by one

// to[i][j] = from[j][i]: `columns` columns of `rows` elements, `column_pitch` apart, to rows `row_pitch` apart.
template <class T>
void to_rows(const T* from, std::size_t column_pitch, std::size_t rows, std::size_t columns, T* to,
             std::size_t row_pitch) {
  constexpr std::size_t side = 64 / sizeof(T);
  for (std::size_t i = 0; i < rows; i += side) {
    const std::size_t end = std::min(rows, i + side);
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t k = i; k < end; ++k) to[k * row_pitch + j] = from[j * column_pitch + k];
  }
}

// to[j][i] = from[i][j]: likewise, writing runs of a cache line.
template <class T>
void to_columns(const T* from, std::size_t row_pitch, std::size_t rows, std::size_t columns, T* to,
                std::size_t column_pitch) {
  constexpr std::size_t side = 64 / sizeof(T);
  for (std::size_t i = 0; i < rows; i += side) {
    const std::size_t end = std::min(rows, i + side);
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t k = i; k < end; ++k) to[j * column_pitch + k] = from[k * row_pitch + j];
  }
}

// To nearest with 11 significant bits: ties to even for half, away from zero for tf32, as in matrix units.
float shortened(float value, Factors factors) {
  if (factors == Factors::half) return static_cast<float>(from_half(to_half(value)));
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x1000) & 0xffffe000;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

template <class T>
class NativeForm final : public Form {
 public:
  NativeForm(Session& session, const Layout& layout, const FormWish& wish)
      : layout_(layout),
        columns_(layout.columns.count()),
        pitch_(row_pitch(layout, sizeof(T))),
        queue_(session.device.make_queue()),
        loops_(native_loops<T>()),
        matrix_(session.device.allocate(layout.rows.count() * pitch_ * sizeof(T), session.memory)),
        by_columns_(
            session.device.allocate(column_pitch(layout.rows.count()) * layout.block * sizeof(T), session.memory)),
        diagonal_(session.device.allocate(layout.block * layout.block * sizeof(T), session.memory)),
        upper_(session.device.allocate(layout.block * columns_ * sizeof(T), session.memory)),
        products_(wish.library ? make_factor_library(session.device, *queue_, wish.type)
                               : make_native_products(session.device, layout, wish.type)) {
    const std::size_t bytes = panel_places(layout.block, layout.block, layout.rows.count(), sizeof(T)).bytes;
    for (auto& panel : panels_) {
      panel = session.device.allocate((bytes / wish.panel_piece + 1) * wish.panel_piece, session.memory);
      views_.push_back(whole(*panel));
    }
    library_ = wish.library;
    factors_ = wish.factors;
  }

  void write_rows(std::size_t first, std::span<const double> values) override {
    for (std::size_t i = 0; i * columns_ < values.size(); ++i)
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * columns_), columns_, a(first + i, 0));
  }
  void read_rows(std::size_t first, std::span<double> values) override {
    for (std::size_t i = 0; i * columns_ < values.size(); ++i)
      std::copy_n(a(first + i, 0), columns_, values.begin() + static_cast<std::ptrdiff_t>(i * columns_));
  }
  void read_runs(std::span<const Run> runs, std::size_t width, std::span<double> values) override {
    for (std::size_t k = 0; k < runs.size(); ++k)
      std::copy_n(a(runs[k].row, runs[k].column), width, values.begin() + static_cast<std::ptrdiff_t>(k * width));
  }
  void poison() override {
    for (Buffer* buffer : {by_columns_.get(), diagonal_.get(), upper_.get(), panels_[0].get(), panels_[1].get()})
      std::memset(buffer->host_pointer(), std::to_integer<int>(poison_byte), buffer->size());
  }
  const std::vector<BufferView>& panel_buffers() const override { return views_; }
  std::size_t element_bytes() const override { return sizeof(T); }

  void factor(const Step& step, bool pivoting, Team& column, std::size_t panel) override {
    below_ = layout_.rows.count() - step.below;
    column_pitch_ = column_pitch(below_);
    width_ = step.width;
    step_ = &step;
    column_ = &column;
    pivoting_ = pivoting;
    pivots_.assign(width_, -1);
    singular_ = -1;
    take_panel();
    factor_columns(0, width_);
    give_panel(panel);
  }

  PanelHead head(const Step& step, std::size_t panel) override {
    const auto* words = reinterpret_cast<const std::int64_t*>(panels_[panel]->host_pointer());
    return {{words, words + step.width}, words[layout_.block]};
  }

  void exchange_rows(const Step& step, const Interchange& moves, Columns columns, Team& column) override {
    if (columns.count() == 0) return;
    if (column.size() == 1) {
      for (std::size_t i = 0; i < step.width; ++i)
        copy(global_row(moves.top[i], columns.begin), u(i, columns), columns.count());
      for (const auto& move : moves.displaced)
        copy(global_row(move.from, columns.begin), global_row(move.to, columns.begin), columns.count());
    } else {
      exchange_between(step, moves, columns, column);
    }
  }

  void update(const Step& step, std::size_t panel, Columns columns) override {
    const std::size_t count = columns.count(), below = layout_.rows.count() - step.below;
    if (count == 0) return;
    const PanelPlaces places = panel_places(layout_.block, step.width, below, sizeof(T));
    Buffer* from = panels_[panel].get();
    const MatrixPart upper{upper_.get(), 0, count};
    products_->solve_unit_lower(*queue_, step.width, count, {from, places.diagonal / sizeof(T), step.width}, upper);
    if (step.in_row)
      for (std::size_t i = 0; i < step.width; ++i) copy(u(i, columns), a(step.row + i, columns.begin), count);
    if (factors_ != Factors::own) {
      shorten(data(upper_), step.width * count);
      shorten(data(panels_[panel]) + places.lower / sizeof(T), below * step.width);
    }
    if (below > 0)
      products_->subtract_product(*queue_, below, count, step.width, {from, places.lower / sizeof(T), step.width},
                                  upper, {matrix_.get(), step.below * pitch_ + columns.begin, pitch_});
  }

  void finish() override {}

  void solve_lower(const Step& step, std::span<double> y) override {
    for (std::size_t i = 0; i < y.size(); ++i) {
      const T* row = a(step.row + i, step.column);
      T value = static_cast<T>(y[i]);
      for (std::size_t j = 0; j < i; ++j) value -= row[j] * static_cast<T>(y[j]);
      y[i] = value;
    }
  }
  void solve_upper(const Step& step, std::span<double> x) override {
    for (std::size_t i = x.size(); i-- > 0;) {
      const T* row = a(step.row + i, step.column);
      T value = static_cast<T>(x[i]);
      for (std::size_t j = i + 1; j < x.size(); ++j) value -= row[j] * static_cast<T>(x[j]);
      x[i] = value / row[i];
    }
  }
  void subtract_lower(const Step& step, std::span<const double> y, std::span<double> rows_below) override {
    subtract(step.below, step.column, y, rows_below);
  }
  void subtract_upper(const Step& step, std::span<const double> x, std::span<double> rows_above) override {
    subtract(0, step.column, x, rows_above);
  }

  Json facts() const override {
    return {{"variant", library_ ? "library" : "nd_range"},
            {"library", library_ ? Json(products_->name()) : Json(nullptr)}};
  }

 private:
  T* data(const std::unique_ptr<Buffer>& buffer) const { return reinterpret_cast<T*>(buffer->host_pointer()); }
  T* a(std::size_t row, std::size_t column) const { return data(matrix_) + row * pitch_ + column; }
  // An odd number of cache lines, as for rows.
  static std::size_t column_pitch(std::size_t rows) {
    constexpr std::size_t line = 64 / sizeof(T);
    return ((rows + line - 1) / line | 1) * line;
  }
  T* u(std::size_t row, Columns columns) const { return data(upper_) + row * columns.count(); }
  T* w(std::size_t column) const { return data(by_columns_) + column * column_pitch_; }  // of the rows below the block
  T* top(std::size_t column) const { return data(diagonal_) + column * width_; }         // of the block itself
  T* global_row(std::size_t row, std::size_t column) const { return a(layout_.rows.below(row), column); }
  static void copy(const T* from, T* to, std::size_t items) { std::memcpy(to, from, items * sizeof(T)); }

  // Sends the diagonal block to all ranks of the column; each updates its own copy.
  void take_panel() {
    if (step_->in_row) to_columns(a(step_->row, step_->column), pitch_, width_, width_, top(0), width_);
    if (column_->size() > 1)
      column_->broadcast(std::as_writable_bytes(std::span(top(0), width_ * width_)),
                         static_cast<int>(step_->owner_row));
    to_columns(a(step_->below, step_->column), pitch_, below_, width_, w(0), column_pitch_);
    for (std::size_t j = 0; j < width_; ++j) std::fill(w(j) + below_, w(j) + column_pitch_, T{0});
  }

  void factor_columns(std::size_t begin, std::size_t end) {
    if (end - begin <= narrow) {
      for (std::size_t j = begin; j < end; ++j) eliminate_column(j, end);
      return;
    }
    const std::size_t middle = begin + (end - begin) / 2 / narrow * narrow;
    const std::size_t half = middle == begin ? begin + (end - begin) / 2 : middle;
    factor_columns(begin, half);
    for (std::size_t c = half; c < end; ++c)
      for (std::size_t r = begin; r < half; ++r) eliminate_top(r, c);
    // Columns are the rows of the transpose: W' of columns x rows -= U' L'. Padding of columns is included: it is zero.
    const std::size_t pitch = column_pitch_;
    products_->subtract_product(*queue_, end - half, below_ > 0 ? pitch : 0, half - begin,
                                {diagonal_.get(), half * width_ + begin, width_},
                                {by_columns_.get(), begin * pitch, pitch}, {by_columns_.get(), half * pitch, pitch});
    factor_columns(half, end);
  }

  void eliminate_top(std::size_t pivot, std::size_t column) {
    loops_.subtract(top(pivot) + pivot + 1, top(column)[pivot], top(column) + pivot + 1, width_ - pivot - 1);
  }

  void eliminate_column(std::size_t j, std::size_t end) {
    if (pivoting_)
      exchange_pivot(j);
    else
      pivots_[j] = static_cast<std::int64_t>(step_->begin + j);
    const T pivot = top(j)[j];
    if (!(std::abs(pivot) > 0)) {  // zero or NaN
      if (singular_ < 0) singular_ = static_cast<std::int64_t>(step_->begin + j);
      return;
    }
    const T factor = 1 / pivot;
    for (std::size_t i = j + 1; i < width_; ++i) top(j)[i] *= factor;
    T row[narrow];
    for (std::size_t c = j + 1; c < end; ++c) {
      row[c - j - 1] = top(c)[j];
      eliminate_top(j, c);
    }
    loops_.eliminate(w(j), below_, column_pitch_, factor, end - j - 1, row);
  }

  // Swaps the row of the column's largest element with row j of the block, over the whole panel.
  void exchange_pivot(std::size_t j) {
    const std::size_t in_top = j + loops_.largest(top(j) + j, width_ - j);
    Located<T> best{-1, std::int64_t{1} << 62};
    if (in_top < width_) best = {std::abs(top(j)[in_top]), static_cast<std::int64_t>(step_->begin + in_top)};
    const std::size_t in_below = loops_.largest(w(j), below_);
    if (in_below < below_ && std::abs(w(j)[in_below]) > best.value)
      best = {std::abs(w(j)[in_below]), static_cast<std::int64_t>(layout_.rows.global(step_->below + in_below))};
    if (column_->size() > 1) best = column_->all_reduce(best, Fold::maximum);
    if (best.value < 0) best.place = static_cast<std::int64_t>(step_->begin + j);  // all NaN
    pivots_[j] = best.place;
    const auto row = static_cast<std::size_t>(best.place);
    if (row < step_->begin + width_) {
      const std::size_t other = row - step_->begin;
      for (std::size_t c = 0; c < width_ && other != j; ++c) std::swap(top(c)[j], top(c)[other]);
    } else {
      exchange_with_below(j, row);
    }
  }

  void exchange_with_below(std::size_t j, std::size_t row) {
    const std::size_t owner = layout_.rows.owner(row);
    const bool mine = owner == layout_.rows.own;
    const std::size_t local = mine ? layout_.rows.below(row) - step_->below : 0;
    row_.resize(width_);
    for (std::size_t c = 0; c < width_ && mine; ++c) {
      row_[c] = w(c)[local];
      w(c)[local] = top(c)[j];
    }
    if (column_->size() > 1) column_->broadcast(std::as_writable_bytes(std::span(row_)), static_cast<int>(owner));
    for (std::size_t c = 0; c < width_; ++c) top(c)[j] = row_[c];
  }

  void give_panel(std::size_t panel) {
    const PanelPlaces places = panel_places(layout_.block, width_, below_, sizeof(T));
    std::byte* to = panels_[panel]->host_pointer();
    auto* words = reinterpret_cast<std::int64_t*>(to);
    std::copy(pivots_.begin(), pivots_.end(), words);
    words[layout_.block] = singular_;
    auto* diagonal = reinterpret_cast<T*>(to + places.diagonal);
    auto* lower = reinterpret_cast<T*>(to + places.lower);
    to_rows(top(0), width_, width_, width_, diagonal, width_);
    to_rows(w(0), column_pitch_, below_, width_, lower, width_);
    for (std::size_t i = 0; i < width_ && step_->in_row; ++i)
      copy(diagonal + i * width_, a(step_->row + i, step_->column), width_);
    for (std::size_t i = 0; i < below_; ++i) copy(lower + i * width_, a(step_->below + i, step_->column), width_);
  }

  // Each rank of the column sends its rows of the block to all others; the block's owner sends the rows that
  // leave the block to their new ranks.
  void exchange_between(const Step& step, const Interchange& moves, Columns columns, Team& column) {
    const std::size_t count = columns.count(), own = layout_.rows.own, parts = layout_.rows.parts;
    const auto owner = [&](std::size_t row) { return layout_.rows.owner(row); };
    std::vector<std::size_t> of_top(parts), of_displaced(parts), sends(parts), receives(parts);
    for (const std::size_t row : moves.top) ++of_top[owner(row)];
    for (const auto& move : moves.displaced) ++of_displaced[owner(move.to)];
    for (std::size_t other = 0; other < parts; ++other) {
      sends[other] = (of_top[own] + (step.in_row ? of_displaced[other] : 0)) * count;
      receives[other] = (of_top[other] + (other == step.owner_row ? of_displaced[own] : 0)) * count;
    }
    const auto total = [](const std::vector<std::size_t>& counts) {
      std::size_t sum = 0;
      for (const std::size_t one : counts) sum += one;
      return sum;
    };
    sent_.resize(std::max(sent_.size(), total(sends)));
    received_.resize(std::max(received_.size(), total(receives)));
    T* to = sent_.data();
    for (std::size_t other = 0; other < parts; ++other) {
      for (const std::size_t row : moves.top)
        if (owner(row) == own) copy(global_row(row, columns.begin), std::exchange(to, to + count), count);
      for (const auto& move : moves.displaced)
        if (step.in_row && owner(move.to) == other)
          copy(global_row(move.from, columns.begin), std::exchange(to, to + count), count);
    }
    column.all_to_all(std::span<const T>(sent_.data(), total(sends)), std::span<const std::size_t>(sends),
                      std::span<T>(received_.data(), total(receives)), std::span<const std::size_t>(receives));
    const T* from = received_.data();
    for (std::size_t other = 0; other < parts; ++other) {
      for (std::size_t i = 0; i < step.width; ++i)
        if (owner(moves.top[i]) == other) copy(std::exchange(from, from + count), u(i, columns), count);
      for (const auto& move : moves.displaced)
        if (other == step.owner_row && owner(move.to) == own)
          copy(std::exchange(from, from + count), global_row(move.to, columns.begin), count);
    }
  }

  void subtract(std::size_t first, std::size_t column, std::span<const double> x, std::span<double> rows) {
    const std::vector<T> factors(x.begin(), x.end());
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i] = static_cast<T>(rows[i]) - loops_.dot(a(first + i, column), factors.data(), factors.size());
  }

  void shorten(T* values, std::size_t items) const {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < items; ++i) values[i] = shortened(static_cast<float>(values[i]), factors_);
  }

  Layout layout_;
  std::size_t columns_, pitch_;
  std::unique_ptr<Queue> queue_;
  Loops<T> loops_;
  std::unique_ptr<Buffer> matrix_, by_columns_, diagonal_, upper_, panels_[2];
  std::vector<BufferView> views_;
  std::unique_ptr<FactorLibrary> products_;
  std::vector<T> row_, sent_, received_;
  bool library_ = false;
  Factors factors_ = Factors::own;

  // State of the current panel.
  const Step* step_ = nullptr;
  Team* column_ = nullptr;
  bool pivoting_ = false;
  std::size_t below_ = 0, width_ = 0, column_pitch_ = 0;
  std::vector<std::int64_t> pivots_;
  std::int64_t singular_ = -1;
};

}  // namespace

std::unique_ptr<Form> make_native(Session& session, const Layout& layout, const FormWish& wish) {
  if (wish.type == ScalarType::f32) return std::make_unique<NativeForm<float>>(session, layout, wish);
  return std::make_unique<NativeForm<double>>(session, layout, wish);
}

}  // namespace plumb::hpl
