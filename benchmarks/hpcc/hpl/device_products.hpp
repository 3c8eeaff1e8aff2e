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
  // Before the first solve with a diagonal block: rows x rows at `l`, without gaps.
  virtual void take_block(Queue& queue, std::size_t rows, const MatrixPart& l) = 0;
  // upper = L^-1 upper in the given columns; `copy` is upper again, its pitch a multiple of TileRoom::columns, with
  // room for TileRoom::inner more rows, which are overwritten.
  virtual void solve(Queue& queue, std::size_t rows, std::size_t columns, const MatrixPart& copy,
                     const MatrixPart& upper) = 0;
  // C -= A B: A without gaps, with room for TileRoom::rows more; B as `copy` above.
  virtual void subtract(Queue& queue, std::size_t rows, std::size_t columns, std::size_t inner, const MatrixPart& a,
                        const MatrixPart& b, const MatrixPart& c) = 0;
  virtual Json facts() const = 0;
};

// For a form of `type`, with the given factors.
std::unique_ptr<DeviceProducts> make_device_products(Device& device, Kernels& kernels, const Layout& layout,
                                                     ScalarType type, Factors factors);
std::unique_ptr<DeviceProducts> make_library_products(Device& device, Queue& queue, ScalarType type);

}  // namespace plumb::hpl
