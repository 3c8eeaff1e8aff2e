// The LU of a block column on a device. Kernels search pivots and exchange rows; the host starts them and, if other
// ranks have rows too, an exchange of the ranks' candidates for each pivot.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "benchmarks/hpcc/hpl/broadcast.hpp"
#include "benchmarks/hpcc/hpl/device_products.hpp"
#include "benchmarks/hpcc/hpl/form.hpp"
#include "benchmarks/hpcc/hpl/kernels.hpp"
#include "device/library.hpp"
#include "measure/benchmark.hpp"
#include "transport/transport.hpp"

namespace plumb::hpl {

class DevicePanel {
 public:
  // Collective over `column`, the ranks of this column of the grid.
  // `alone`: one work item eliminates narrow columns, as suits CPUs.
  DevicePanel(Session& session, const Layout& layout, Kernels& kernels, DeviceProducts& products,
              std::size_t element_bytes, Team& column, const Placement& own, bool alone);

  // Starts the LU of the block column of `matrix` into a panel buffer and back into the matrix: enqueues it, unless the
  // ranks of the column must agree on pivots.
  void factor(Queue& queue, const Step& step, bool pivoting, const MatrixPart& matrix, Buffer& panel);
  // Whether all of it is enqueued; else enqueues the next part, collective over the column.
  bool is_enqueued() const { return next_ == step_.width; }
  void factor_further(Queue& queue);
  // Multiprocessors that the current panel's kernels need while others run.
  std::size_t multiprocessors() const;
  std::vector<Buffer*> buffers();

 private:
  // The ranks' candidates for a pivot, in one buffer by their places in the column.
  struct Candidates {
    Candidates(Session& session, Team& column, std::size_t elements, int lane);
    std::size_t length;  // elements from one to the next
    std::unique_ptr<Buffer> all;
    std::unique_ptr<CompiledExchange> exchange;  // of each with each
  };
  void take(Queue& queue);
  void update_right_of(Queue& queue, std::size_t begin, std::size_t end);
  void update_columns(Queue& queue, std::size_t begin, std::size_t end, std::size_t first, std::size_t last);
  void solve_columns(Queue& queue, std::size_t begin, std::size_t end, std::size_t last);
  void eliminate(Queue& queue, std::size_t column, std::size_t begin, std::size_t end);
  void eliminate_at_once(Queue& queue, std::size_t begin, std::size_t end, std::size_t last);
  void give(Queue& queue);
  void agree_on_pivot(Queue& queue, std::size_t column);
  void transpose(Queue& queue, const MatrixPart& from, std::size_t rows, std::size_t columns, const MatrixPart& to);
  bool is_alone(std::size_t first) const;                // whether one work item eliminates the columns from `first` on
  std::size_t searching(std::size_t first) const;        // groups
  std::size_t groups_together(std::size_t first) const;  // that hold all rows from `first` on

  Layout layout_;
  Kernels& kernels_;
  DeviceProducts& products_;
  std::size_t element_bytes_, pitch_;
  Team& column_;
  std::unique_ptr<Buffer> w_, top_, values_, rows_, told_rows_, turns_;
  bool alone_;
  std::size_t most_together_;  // groups that are certain to run concurrently
  std::size_t all_multiprocessors_;
  std::unique_ptr<PanelBroadcast> top_broadcast_;
  std::array<std::optional<Candidates>, 2> candidates_;  // of columns in turn; none without other ranks

  // State of the current panel.
  Step step_;
  bool pivoting_ = false, agrees_ = false;  // with the other ranks of the column
  std::size_t below_ = 0, next_ = 0;        // rows below the block; the first column that is not enqueued
  MatrixPart matrix_;
  Buffer* panel_ = nullptr;
};

}  // namespace plumb::hpl
