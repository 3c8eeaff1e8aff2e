// Products of parts of matrices on OpenCL devices that are CPUs, by gemm's kernels for CPUs (cpu.cl).
#pragma once

#include <memory>

#include "benchmarks/hpcc/gemm/cpu.hpp"
#include "benchmarks/hpcc/hpl/layout.hpp"
#include "device/library.hpp"

namespace plumb::hpl {

class CpuProduct {
 public:
  CpuProduct(Device& device, const Layout& layout, const gemm::Element& element);
  // C -= A B, with rows up to the layout's own and its block.
  void enqueue(Queue& queue, std::size_t rows, std::size_t columns, std::size_t inner, const MatrixPart& a,
               const MatrixPart& b, const MatrixPart& c);
  const gemm::CpuTiles& tiles() const { return tiles_; }

 private:
  gemm::Element element_;
  gemm::CpuTiles tiles_;  // of the largest product
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> pack_a_, pack_b_, multiply_;
  std::unique_ptr<Buffer> packed_a_, packed_b_;
};

}  // namespace plumb::hpl
