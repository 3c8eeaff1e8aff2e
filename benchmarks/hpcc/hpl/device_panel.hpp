// The LU of a block column on a device. If this rank has all of its rows, the host only starts kernels; otherwise
// the host moves each pivot's row between ranks.
#pragma once

#include <memory>
#include <vector>

#include "benchmarks/hpcc/hpl/broadcast.hpp"
#include "benchmarks/hpcc/hpl/device_products.hpp"
#include "benchmarks/hpcc/hpl/form.hpp"
#include "benchmarks/hpcc/hpl/kernels.hpp"
#include "device/library.hpp"
#include "measure/benchmark.hpp"

namespace plumb::hpl {

class DevicePanel {
 public:
  // Collective over `column`, the ranks of this column of the grid.
  DevicePanel(Session& session, const Layout& layout, Kernels& kernels, DeviceProducts& products,
              std::size_t element_bytes, Team& column, const Placement& own);

  // Enqueues, or completes, the LU of the block column of `matrix` into a panel buffer and back into the matrix.
  void factor(Queue& queue, const Step& step, bool pivoting, const MatrixPart& matrix, Buffer& panel);
  // Multiprocessors that the current panel's kernels need while others run.
  std::size_t multiprocessors() const;
  std::vector<Buffer*> buffers() { return {w_.get(), top_.get(), values_.get(), rows_.get(), told_rows_.get()}; }

 private:
  void take(Queue& queue, const MatrixPart& matrix);
  void factor_columns(Queue& queue, std::size_t begin, std::size_t end, std::size_t last);
  void update_right_of(Queue& queue, std::size_t begin, std::size_t end);
  void update_columns(Queue& queue, std::size_t begin, std::size_t end, std::size_t first, std::size_t last);
  void solve_columns(Queue& queue, std::size_t begin, std::size_t end, std::size_t last);
  void eliminate_one_by_one(Queue& queue, std::size_t begin, std::size_t end);
  void eliminate_together(Queue& queue, std::size_t begin, std::size_t end, std::size_t last);
  void give(Queue& queue, const MatrixPart& matrix);
  void agree_on_pivot(Queue& queue, std::size_t column);
  std::int64_t global_of(std::uint32_t row) const;
  void transpose(Queue& queue, const MatrixPart& from, std::size_t rows, std::size_t columns, const MatrixPart& to);
  std::size_t searching(std::size_t first) const;        // groups
  std::size_t groups_together(std::size_t first) const;  // that hold all rows from `first` on

  Layout layout_;
  Kernels& kernels_;
  DeviceProducts& products_;
  std::size_t element_bytes_, pitch_;
  Team& column_;
  std::unique_ptr<Buffer> w_, top_, values_, rows_, told_rows_, turns_, candidate_;
  std::unique_ptr<Buffer> sent_, received_;  // candidates in host memory: this rank's, and all ranks'
  std::size_t most_together_;                // groups that are certain to run concurrently
  std::size_t all_multiprocessors_;
  std::unique_ptr<PanelBroadcast> top_broadcast_;

  // State of the current panel.
  Step step_;
  bool pivoting_ = false, agrees_ = false;  // with the other ranks of the column
  std::size_t below_ = 0;
  Buffer* panel_ = nullptr;
  std::vector<std::int64_t> head_;
  std::vector<double> sent_copies_;
};

}  // namespace plumb::hpl
