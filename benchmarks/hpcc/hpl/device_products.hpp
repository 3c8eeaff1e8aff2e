// Products of parts of a device's matrices, by gemm's kernels for GPUs or by a library; and solves for a panel's U.
#pragma once

#include <memory>

#include "benchmarks/hpcc/hpl/form.hpp"
#include "benchmarks/hpcc/hpl/kernels.hpp"
#include "benchmarks/hpcc/hpl/layout.hpp"
#include "core/json.hpp"
#include "device/library.hpp"

namespace plumb::hpl {

// Padding of products' operands, which are read in whole tiles.
struct TileRoom {
  std::size_t rows = 128, columns = 256, inner = 32;
};

class DeviceProducts {
 public:
  virtual ~DeviceProducts() = default;
  // Before a step's first solve and update: the diagonal block, width x width, and the rows of L below it, without
  // gaps. `lower` has room for TileRoom::rows more.
  virtual void take_panel(Queue& queue, std::size_t width, const MatrixPart& block, std::size_t rows,
                          const MatrixPart& lower) = 0;
  // upper = L^-1 upper in the given columns; `copy` is upper again, its pitch a multiple of TileRoom::columns, with
  // room for TileRoom::inner more rows, which are overwritten.
  virtual void solve(Queue& queue, std::size_t rows, std::size_t columns, const MatrixPart& copy,
                     const MatrixPart& upper) = 0;
  // C -= L B with the panel's rows of L; B as `copy` above. Leaves `spared` multiprocessors to other queues if it can.
  virtual void subtract(Queue& queue, std::size_t columns, const MatrixPart& b, const MatrixPart& c,
                        std::size_t spared) = 0;
  // C -= A B of parts of one matrix, on any queue: the inner dimension a multiple of TileRoom::inner, parts at
  // multiples of it, room for TileRoom::rows more rows of A. Does nothing and returns false without a kernel for it.
  virtual bool subtract_parts(Queue&, std::size_t /*rows*/, std::size_t /*columns*/, std::size_t /*inner*/,
                              const MatrixPart& /*a*/, const MatrixPart& /*b*/, const MatrixPart& /*c*/) {
    return false;
  }
  virtual Json facts() const = 0;
};

// For a form of `type`, with the given factors.
std::unique_ptr<DeviceProducts> make_device_products(Device& device, Kernels& kernels, const Layout& layout,
                                                     ScalarType type, Factors factors);
std::unique_ptr<DeviceProducts> make_library_products(Device& device, Queue& queue, ScalarType type);

}  // namespace plumb::hpl
