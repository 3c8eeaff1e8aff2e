#include "benchmarks/hpcc/hpl/device_panel.hpp"

#include <algorithm>
#include <cmath>

namespace plumb::hpl {

namespace {

constexpr std::size_t most_searching = 256, side_of_tile = 16, strip_of_update = 32;
constexpr std::size_t most_rows_alone = 8192;  // on several compute units, which share a column of more rows
constexpr std::size_t turn_words = 2 * most_searching + 1;
constexpr std::size_t candidate_head = 3, candidate_unit = 8;  // elements

std::uint32_t as_uint(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

}  // namespace

DevicePanel::DevicePanel(Session& session, const Layout& layout, Kernels& kernels, DeviceProducts& products,
                         std::size_t element_bytes, Team& column, const Placement& own, bool alone)
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
      alone_(alone),
      all_multiprocessors_(session.device.info().compute_units) {
  const DeviceInfo& device = session.device.info();
  most_together_ = device.runtime == "cuda" ? std::min<std::size_t>(device.compute_units, most_searching) : 1;
  const std::size_t bytes = layout.block * layout.block * element_bytes, piece = PanelBroadcast::piece_of(bytes);
  top_ = session.device.allocate((bytes / piece + 1) * piece, session.memory);
  if (column.size() == 1) return;
  top_broadcast_ = std::make_unique<PanelBroadcast>(session.transport, Way::tree, column,
                                                    std::vector<BufferView>{whole(*top_)}, piece, top_lane);
  for (std::size_t turn = 0; turn < candidates_.size(); ++turn)
    candidates_[turn].emplace(session, column, candidate_head + layout.block, pivots_lane + static_cast<int>(turn));
}

DevicePanel::Candidates::Candidates(Session& session, Team& column, std::size_t elements, int lane)
    : length((elements + candidate_unit - 1) / candidate_unit * candidate_unit) {
  const std::size_t bytes = length * sizeof(double);
  all = session.device.allocate(static_cast<std::size_t>(column.size()) * bytes, session.memory);
  const auto at = [&](int place) { return BufferView{all.get(), static_cast<std::size_t>(place) * bytes, bytes}; };
  plumb::Step step;
  for (int place = 0; place < column.size(); ++place) {
    if (place == column.rank()) continue;
    step.sends.push_back({place, lane, {at(column.rank())}});
    step.receives.push_back({place, lane, {at(place)}});
  }
  exchange = session.transport->compile(Exchange{{step}}, column);
}

std::vector<Buffer*> DevicePanel::buffers() {
  std::vector<Buffer*> all{w_.get(), top_.get(), values_.get(), rows_.get(), told_rows_.get()};
  for (const auto& candidates : candidates_)
    if (candidates) all.push_back(candidates->all.get());
  return all;
}

void DevicePanel::factor(Queue& queue, const Step& step, bool pivoting, const MatrixPart& matrix, Buffer& panel) {
  step_ = step;
  agrees_ = pivoting && column_.size() > 1;
  pivoting_ = pivoting;
  below_ = layout_.rows.count() - step.below;
  matrix_ = matrix;
  panel_ = &panel;
  next_ = 0;
  kernels_.start(queue, "begin_panel", {panel_, as_uint(layout_.block + 1), turns_.get(), as_uint(turn_words)}, 1);
  take(queue);
  while (!agrees_ && !is_enqueued()) factor_further(queue);
}

// A run of columns; of those whose pivots the ranks agree on, one.
void DevicePanel::factor_further(Queue& queue) {
  const std::size_t begin = next_ - next_ % narrow_columns, end = std::min(step_.width, begin + narrow_columns);
  const std::size_t first = next_ - next_ % subpanel_columns, last = std::min(step_.width, first + subpanel_columns);
  const bool at_once = !agrees_ && (is_alone(begin) || groups_together(begin) <= most_together_);
  if (at_once) {
    eliminate_at_once(queue, begin, end, last);
    next_ = end;
  } else {
    do eliminate(queue, next_, begin, end);
    while (++next_ < end && !agrees_);
  }
  if (next_ < end) return;
  if (end < last) {
    if (!at_once || !pivoting_) solve_columns(queue, begin, end, last);
    update_columns(queue, begin, end, end, last);
  } else if (last < step_.width) {
    update_right_of(queue, first, last);
  }
  if (is_enqueued()) give(queue);
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
void DevicePanel::take(Queue& queue) {
  const std::size_t width = step_.width, row = matrix_.offset + step_.column;
  const MatrixPart top{top_.get(), 0, width}, block{matrix_.buffer, row + step_.row * matrix_.pitch, matrix_.pitch};
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
  transpose(queue, {matrix_.buffer, row + step_.below * matrix_.pitch, matrix_.pitch}, below_, width,
            {w_.get(), width, pitch_});
}

std::size_t DevicePanel::searching(std::size_t first) const {
  return std::clamp<std::size_t>(kernels_.groups_of(step_.width + below_ - first), 1, most_searching);
}

std::size_t DevicePanel::groups_together(std::size_t first) const {
  const std::size_t held = kernels_.group() * held_rows;
  return (step_.width + below_ - first + held - 1) / held;
}

bool DevicePanel::is_alone(std::size_t first) const {
  return alone_ && (all_multiprocessors_ == 1 || step_.width + below_ - first <= most_rows_alone);
}

std::size_t DevicePanel::multiprocessors() const {
  return std::clamp(groups_together(0), all_multiprocessors_ / 4, all_multiprocessors_ / 2);
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

void DevicePanel::eliminate_at_once(Queue& queue, std::size_t begin, std::size_t end, std::size_t last) {
  const std::uint64_t pitch = pitch_, first_row = step_.begin;
  std::vector<KernelArgument> arguments{w_.get(),     pitch,     as_uint(step_.width + below_),     as_uint(begin),
                                        as_uint(end), first_row, std::uint32_t{pivoting_ ? 1u : 0u}};
  const auto with = [&](std::initializer_list<KernelArgument> more) {
    arguments.insert(arguments.end(), more);
    return arguments;
  };
  if (is_alone(begin))
    kernels_.start_alone(queue, "factor_columns_alone", with({panel_, as_uint(layout_.block)}));
  else
    kernels_.start(queue, "factor_columns",
                   with({values_.get(), rows_.get(), told_rows_.get(), turns_.get(), as_uint(begin), panel_,
                         as_uint(layout_.block)}),
                   groups_together(begin));
  if (pivoting_ && step_.width > end - begin)
    kernels_.start(
        queue, "exchange_and_solve",
        {w_.get(), pitch, as_uint(step_.width), as_uint(begin), as_uint(end), as_uint(last), first_row, panel_},
        kernels_.groups_of(step_.width - (end - begin)));
}

void DevicePanel::eliminate(Queue& queue, std::size_t column, std::size_t begin, std::size_t end) {
  const std::size_t rows = step_.width + below_;
  const std::uint64_t pitch = pitch_;
  if (column == begin)
    kernels_.start(queue, "search_column",
                   {w_.get(), pitch, as_uint(rows), as_uint(column), values_.get(), rows_.get()}, searching(column));
  if (agrees_)
    agree_on_pivot(queue, column);
  else
    kernels_.start(queue, "take_pivot",
                   {w_.get(), pitch, as_uint(step_.width), as_uint(rows), as_uint(column), std::uint64_t{step_.begin},
                    std::uint32_t{pivoting_ ? 1u : 0u}, as_uint(searching(column)), values_.get(), rows_.get(), panel_,
                    as_uint(layout_.block)},
                   1);
  kernels_.start(queue, "eliminate",
                 {w_.get(), pitch, as_uint(rows), as_uint(column), as_uint(end), values_.get(), rows_.get()},
                 searching(column + 1));
}

// The ranks' candidates, with their rows, in one message for each pair; each rank takes the best. Columns take turns
// with two sets of candidates, so that the host need not wait for a column before it enqueues the next.
void DevicePanel::agree_on_pivot(Queue& queue, std::size_t column) {
  Candidates& candidates = *candidates_[column % 2];
  const std::uint32_t width = as_uint(step_.width), rows = as_uint(step_.width + below_);
  const std::uint32_t ranks = as_uint(layout_.rows.parts);
  const std::uint32_t own = as_uint(layout_.rows.own), length = as_uint(candidates.length);
  const std::uint64_t pitch = pitch_, begin = step_.begin;
  candidates.exchange->wait();  // of the column before the last
  kernels_.start(queue, "tell_candidate",
                 {w_.get(), pitch, width, rows, as_uint(searching(column)), values_.get(), rows_.get(), begin,
                  std::uint64_t{step_.below}, std::uint64_t{layout_.block}, ranks, own, candidates.all.get(), length},
                 1);
  candidates.exchange->start_after(queue, 0, 1);
  candidates.exchange->precede(queue);
  kernels_.start(queue, "take_candidate",
                 {w_.get(), pitch, width, rows, as_uint(column), begin, ranks, own, candidates.all.get(), length,
                  panel_, as_uint(layout_.block)},
                 1);
}

void DevicePanel::give(Queue& queue) {
  for (auto& candidates : candidates_)
    if (candidates) candidates->exchange->wait();
  const PanelPlaces places = panel_places(layout_.block, step_.width, below_, element_bytes_);
  const std::size_t width = step_.width, row = matrix_.offset + step_.column;
  const MatrixPart top{w_.get(), 0, pitch_}, lower{w_.get(), width, pitch_};
  transpose(queue, top, width, width, {panel_, places.diagonal / element_bytes_, width});
  transpose(queue, lower, width, below_, {panel_, places.lower / element_bytes_, width});
  if (step_.in_row)
    transpose(queue, top, width, width, {matrix_.buffer, row + step_.row * matrix_.pitch, matrix_.pitch});
  transpose(queue, lower, width, below_, {matrix_.buffer, row + step_.below * matrix_.pitch, matrix_.pitch});
}

}  // namespace plumb::hpl
