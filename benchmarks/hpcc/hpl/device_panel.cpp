#include "benchmarks/hpcc/hpl/device_panel.hpp"

#include <algorithm>
#include <cmath>

namespace plumb::hpl {

namespace {

constexpr std::size_t most_searching = 256, side_of_tile = 16, strip_of_update = 32;
constexpr std::size_t turn_words = 2 * most_searching + 1;
constexpr std::uint32_t no_row = 0xffffffff;

std::uint32_t as_uint(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

}  // namespace

DevicePanel::DevicePanel(Session& session, const Layout& layout, Kernels& kernels, DeviceProducts& products,
                         std::size_t element_bytes, Team& column, const Placement& own)
    : layout_(layout),
      kernels_(kernels),
      products_(products),
      element_bytes_(element_bytes),
      pitch_((layout.rows.count() + layout.block + 31) / 32 * 32),
      column_(column),
      w_(session.device.allocate(pitch_ * (layout.block + TileRoom{}.rows) * element_bytes, own)),
      values_(session.device.allocate(2 * most_searching * element_bytes, own)),
      rows_(session.device.allocate(2 * most_searching * sizeof(std::uint32_t), own)),
      told_rows_(session.device.allocate((2 * most_searching + narrow_columns) * narrow_columns * element_bytes, own)),
      turns_(session.device.allocate(turn_words * sizeof(std::uint32_t), own)),
      candidate_(session.device.allocate((layout.block + 2) * sizeof(double), own)),
      all_multiprocessors_(session.device.info().compute_units) {
  const DeviceInfo& device = session.device.info();
  most_together_ = device.runtime == "cuda" ? std::min<std::size_t>(device.compute_units, most_searching) : 1;
  const std::size_t candidate_bytes = candidate_->size(), ranks = static_cast<std::size_t>(column.size());
  sent_ = allocate_host(session.device, candidate_bytes);
  received_ = allocate_host(session.device, ranks * candidate_bytes);
  const std::size_t bytes = layout.block * layout.block * element_bytes, piece = PanelBroadcast::piece_of(bytes);
  top_ = session.device.allocate((bytes / piece + 1) * piece, session.memory);
  if (column.size() > 1)
    top_broadcast_ = std::make_unique<PanelBroadcast>(session.transport, Way::tree, column,
                                                      std::vector<BufferView>{whole(*top_)}, piece, top_lane);
}

void DevicePanel::factor(Queue& queue, const Step& step, bool pivoting, const MatrixPart& matrix, Buffer& panel) {
  step_ = step;
  pivoting_ = pivoting;
  agrees_ = pivoting && column_.size() > 1;
  below_ = layout_.rows.count() - step.below;
  panel_ = &panel;
  head_.assign(layout_.block + 1, -1);
  kernels_.start(queue, "begin_panel", {panel_, as_uint(layout_.block + 1), turns_.get(), as_uint(turn_words)}, 1);
  take(queue, matrix);
  for (std::size_t first = 0; first < step.width; first += subpanel_columns) {
    const std::size_t last = std::min(step.width, first + subpanel_columns);
    for (std::size_t begin = first; begin < last; begin += narrow_columns)
      factor_columns(queue, begin, std::min(last, begin + narrow_columns), last);
    if (last < step.width) update_right_of(queue, first, last);
  }
  give(queue, matrix);
  if (agrees_)
    queue.write(reinterpret_cast<const std::byte*>(head_.data()), {panel_, 0, head_.size() * sizeof(head_[0])});
}

void DevicePanel::transpose(Queue& queue, const MatrixPart& from, std::size_t rows, std::size_t columns,
                            const MatrixPart& to) {
  const auto tiles = [](std::size_t items) { return (items + side_of_tile - 1) / side_of_tile; };
  kernels_.start(queue, "transpose_part",
                 {from.buffer, std::uint64_t{from.offset}, std::uint64_t{from.pitch}, std::uint64_t{rows},
                  std::uint64_t{columns}, to.buffer, std::uint64_t{to.offset}, std::uint64_t{to.pitch}},
                 tiles(rows) * tiles(columns));
}

// Sends the diagonal block to all ranks of the column; each updates its own copy.
void DevicePanel::take(Queue& queue, const MatrixPart& matrix) {
  const std::size_t width = step_.width, row = matrix.offset + step_.column;
  const MatrixPart top{top_.get(), 0, width}, block{matrix.buffer, row + step_.row * matrix.pitch, matrix.pitch};
  if (!top_broadcast_) {
    transpose(queue, block, width, width, {w_.get(), 0, pitch_});
  } else {
    if (step_.in_row) transpose(queue, block, width, width, top);
    queue.finish();
    top_broadcast_->start(0, static_cast<int>(step_.owner_row), width * width * element_bytes_);
    top_broadcast_->wait();
    for (std::size_t j = 0; j < width; ++j)
      queue.enqueue_copy({top_.get(), j * width * element_bytes_, width * element_bytes_},
                         {w_.get(), j * pitch_ * element_bytes_, width * element_bytes_});
  }
  transpose(queue, {matrix.buffer, row + step_.below * matrix.pitch, matrix.pitch}, below_, width,
            {w_.get(), width, pitch_});
}

std::size_t DevicePanel::searching(std::size_t first) const {
  return std::clamp<std::size_t>(kernels_.groups_of(step_.width + below_ - first), 1, most_searching);
}

std::size_t DevicePanel::groups_together(std::size_t first) const {
  const std::size_t held = kernels_.group() * held_rows;
  return (step_.width + below_ - first + held - 1) / held;
}

std::size_t DevicePanel::multiprocessors() const {
  return std::clamp(groups_together(0), all_multiprocessors_ / 4, all_multiprocessors_ / 2);
}

void DevicePanel::factor_columns(Queue& queue, std::size_t begin, std::size_t end, std::size_t last) {
  const bool together = !agrees_ && groups_together(begin) <= most_together_;
  together ? eliminate_together(queue, begin, end, last) : eliminate_one_by_one(queue, begin, end);
  if (end == last) return;
  if (!together || !pivoting_) solve_columns(queue, begin, end, last);
  update_columns(queue, begin, end, end, last);
}

void DevicePanel::solve_columns(Queue& queue, std::size_t begin, std::size_t end, std::size_t last) {
  kernels_.start(queue, "solve_columns", {w_.get(), std::uint64_t{pitch_}, as_uint(begin), as_uint(end), as_uint(last)},
                 kernels_.groups_of(last - end));
}

void DevicePanel::update_columns(Queue& queue, std::size_t begin, std::size_t end, std::size_t first,
                                 std::size_t last) {
  const std::size_t rows = step_.width + below_, strips = (last - first + strip_of_update - 1) / strip_of_update;
  kernels_.start(
      queue, "update_columns",
      {w_.get(), std::uint64_t{pitch_}, as_uint(rows), as_uint(begin), as_uint(end), as_uint(first), as_uint(last)},
      kernels_.groups_of(rows - first) * strips);
}

// The columns right of `end` follow columns begin .. end: by one product if there is one for such parts. Columns of w
// are rows of its transpose.
void DevicePanel::update_right_of(Queue& queue, std::size_t begin, std::size_t end) {
  const std::size_t rows = step_.width + below_, width = step_.width;
  solve_columns(queue, begin, end, width);
  const MatrixPart upper{w_.get(), end * pitch_ + begin, pitch_}, lower{w_.get(), begin * pitch_ + end, pitch_};
  if (products_.subtract_parts(queue, width - end, rows - end, end - begin, upper, lower,
                               {w_.get(), end * pitch_ + end, pitch_}))
    return;
  for (std::size_t first = begin; first < end; first += narrow_columns)
    update_columns(queue, first, std::min(end, first + narrow_columns), end, width);
}

void DevicePanel::eliminate_together(Queue& queue, std::size_t begin, std::size_t end, std::size_t last) {
  const std::size_t rows = step_.width + below_, groups = groups_together(begin);
  const std::uint64_t pitch = pitch_, first_row = step_.begin;
  kernels_.start(
      queue, "factor_columns",
      {w_.get(), pitch, as_uint(rows), as_uint(begin), as_uint(end), first_row, std::uint32_t{pivoting_ ? 1u : 0u},
       values_.get(), rows_.get(), told_rows_.get(), turns_.get(), as_uint(begin), panel_, as_uint(layout_.block)},
      groups);
  if (pivoting_ && step_.width > end - begin)
    kernels_.start(
        queue, "exchange_and_solve",
        {w_.get(), pitch, as_uint(step_.width), as_uint(begin), as_uint(end), as_uint(last), first_row, panel_},
        kernels_.groups_of(step_.width - (end - begin)));
}

void DevicePanel::eliminate_one_by_one(Queue& queue, std::size_t begin, std::size_t end) {
  const std::size_t rows = step_.width + below_, width = step_.width;
  const std::uint64_t pitch = pitch_;
  kernels_.start(queue, "search_column", {w_.get(), pitch, as_uint(rows), as_uint(begin), values_.get(), rows_.get()},
                 searching(begin));
  for (std::size_t j = begin; j < end; ++j) {
    if (agrees_)
      agree_on_pivot(queue, j);
    else
      kernels_.start(
          queue, "take_pivot",
          {w_.get(), pitch, as_uint(width), as_uint(j), std::uint64_t{step_.begin}, std::uint32_t{pivoting_ ? 1u : 0u},
           as_uint(searching(j)), values_.get(), rows_.get(), panel_, as_uint(layout_.block)},
          1);
    kernels_.start(queue, "eliminate",
                   {w_.get(), pitch, as_uint(rows), as_uint(j), as_uint(end), values_.get(), rows_.get()},
                   searching(j + 1));
  }
}

std::int64_t DevicePanel::global_of(std::uint32_t row) const {
  if (row < step_.width) return static_cast<std::int64_t>(step_.begin + row);
  return static_cast<std::int64_t>(layout_.rows.global(step_.below + row - step_.width));
}

// All-gather of the ranks' candidates, with their rows, in one message per pair; each rank finds the best.
void DevicePanel::agree_on_pivot(Queue& queue, std::size_t column) {
  const std::size_t width = step_.width, length = width + 2, bytes = length * sizeof(double);
  const auto ranks = static_cast<std::size_t>(column_.size());
  kernels_.start(queue, "tell_candidate",
                 {w_.get(), std::uint64_t{pitch_}, as_uint(width), as_uint(searching(column)), values_.get(),
                  rows_.get(), candidate_.get()},
                 1);
  queue.read({candidate_.get(), 0, bytes}, sent_->host_pointer());
  auto* told = reinterpret_cast<double*>(sent_->host_pointer());
  told[1] = told[0] >= 0 ? static_cast<double>(global_of(static_cast<std::uint32_t>(told[1]))) : 0x1p60;
  auto* all = reinterpret_cast<double*>(received_->host_pointer());
  sent_copies_.clear();
  for (std::size_t rank = 0; rank < ranks; ++rank) sent_copies_.insert(sent_copies_.end(), told, told + length);
  const std::vector<std::size_t> counts(ranks, length);
  column_.all_to_all(std::span<const double>(sent_copies_), std::span<const std::size_t>(counts),
                     std::span<double>(all, ranks * length), std::span<const std::size_t>(counts));
  const double* best = all;
  for (const double* one = all + length; one < all + ranks * length; one += length)
    if (one[0] > best[0] || (one[0] == best[0] && one[1] < best[1])) best = one;
  // all NaN: the row stays
  const std::size_t row = best[0] < 0 ? step_.begin + column : static_cast<std::size_t>(best[1]);
  head_[column] = static_cast<std::int64_t>(row);
  if (!(best[0] > 0) && head_[layout_.block] < 0)
    head_[layout_.block] = static_cast<std::int64_t>(step_.begin + column);
  if (row == step_.begin + column) return;
  if (row < step_.begin + width)  // every rank has the block
    return kernels_.start(
        queue, "swap_rows",
        {w_.get(), std::uint64_t{pitch_}, as_uint(width), as_uint(column), as_uint(row - step_.begin)}, 1);
  const bool mine = layout_.rows.owner(row) == layout_.rows.own;
  const std::uint32_t other = mine ? as_uint(layout_.rows.below(row) - step_.below + width) : no_row;
  queue.enqueue_write(reinterpret_cast<const std::byte*>(best + 2), {candidate_.get(), 0, width * sizeof(double)});
  kernels_.start(queue, "put_pivot",
                 {w_.get(), std::uint64_t{pitch_}, as_uint(width), as_uint(column), other, candidate_.get()}, 1);
}

void DevicePanel::give(Queue& queue, const MatrixPart& matrix) {
  const PanelPlaces places = panel_places(layout_.block, step_.width, below_, element_bytes_);
  const std::size_t width = step_.width, row = matrix.offset + step_.column;
  const MatrixPart top{w_.get(), 0, pitch_}, lower{w_.get(), width, pitch_};
  transpose(queue, top, width, width, {panel_, places.diagonal / element_bytes_, width});
  transpose(queue, lower, width, below_, {panel_, places.lower / element_bytes_, width});
  if (step_.in_row) transpose(queue, top, width, width, {matrix.buffer, row + step_.row * matrix.pitch, matrix.pitch});
  transpose(queue, lower, width, below_, {matrix.buffer, row + step_.below * matrix.pitch, matrix.pitch});
}

}  // namespace plumb::hpl
