// Moves of rows by pivots, on devices: within one, and between those of a column of the grid over the transport.
#pragma once

#include <memory>
#include <vector>

#include "benchmarks/hpcc/hpl/broadcast.hpp"
#include "benchmarks/hpcc/hpl/form.hpp"
#include "benchmarks/hpcc/hpl/kernels.hpp"
#include "device/library.hpp"
#include "measure/benchmark.hpp"
#include "transport/transport.hpp"

namespace plumb::hpl {

class DeviceRows {
 public:
  // Collective over `column`, the ranks of this column of the grid.
  DeviceRows(Session& session, const Layout& layout, Kernels& kernels, std::size_t element_bytes, Team& column,
             const Placement& own);

  // Moves the block's rows to `top`, the other moved rows to their places in the matrix, in the given columns.
  void exchange(Queue& queue, const Step& step, const Interchange& moves, Columns columns, const MatrixPart& matrix,
                const MatrixPart& top);
  std::vector<Buffer*> buffers();

 private:
  // Row pairs (from, to) in the list, one run per copy.
  struct Run {
    std::size_t first = 0, count = 0;
  };
  struct Peer {
    std::size_t place = 0;
    std::unique_ptr<Buffer> sent, received;
    Run packed, to_top, to_matrix;
  };
  void list_pairs(const Step& step, const Interchange& moves);
  template <class Rows>
  Run add(const Rows& rows);
  void copy(Queue& queue, const Run& run, const MatrixPart& from, const MatrixPart& to, std::size_t columns);
  void send(Queue& queue, std::size_t columns);

  Layout layout_;
  Kernels& kernels_;
  std::size_t element_bytes_;
  std::vector<std::uint32_t> pairs_;
  std::unique_ptr<Buffer> list_;
  std::vector<Peer> peers_;
  Run own_top_, own_displaced_;
  std::unique_ptr<CompiledExchange> exchange_;
};

}  // namespace plumb::hpl
