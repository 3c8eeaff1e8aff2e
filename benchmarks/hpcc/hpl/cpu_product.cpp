#include "benchmarks/hpcc/hpl/cpu_product.hpp"

#include <algorithm>

#include "benchmarks/hpcc/gemm/form.hpp"
#include "core/embedded.hpp"
#include "device/host_simd.hpp"

namespace plumb::hpl {

namespace {

std::size_t at_least_one(std::size_t value) {
  return std::max<std::size_t>(value, 1);
}

gemm::Problem largest(const Layout& layout, const gemm::Element& element) {
  const std::size_t rows = std::max(layout.rows.count(), layout.block);
  return {element, rows, at_least_one(layout.columns.count()), layout.block, -1, 1};
}

std::uint32_t word(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

}  // namespace

CpuProduct::CpuProduct(Device& device, const Layout& layout, const gemm::Element& element)
    : element_(element), tiles_(gemm::cpu_tiles(largest(layout, element), host_vector_bytes())) {
  program_ = device.build({.name = "cpu.cl",
                           .opencl = embedded_text("benchmarks/hpcc/gemm/cpu.cl"),
                           .options = gemm::cpu_options(element, tiles_) + " -DPARTS"});
  pack_a_ = program_->kernel("pack_a");
  pack_b_ = program_->kernel("pack_b");
  multiply_ = program_->kernel("multiply");
  packed_a_ = device.allocate(tiles_.packed_a_items() * size_of(element.computed), {});
  packed_b_ = device.allocate(tiles_.packed_b_items() * size_of(element.computed), {});
}

void CpuProduct::enqueue(Queue& queue, std::size_t rows, std::size_t columns, std::size_t inner, const MatrixPart& a,
                         const MatrixPart& b, const MatrixPart& c) {
  gemm::CpuTiles tiles = tiles_;
  tiles.row_tiles = gemm::pieces(rows, tiles.rows);
  tiles.column_tiles = gemm::pieces(columns, tiles.columns);
  tiles.depths = gemm::pieces(inner, tiles.depth);
  const auto place = [](const MatrixPart& part) {
    return std::pair(std::uint64_t{part.offset}, std::uint64_t{part.pitch});
  };
  const auto [a_offset, a_pitch] = place(a);
  const auto [b_offset, b_pitch] = place(b);
  const auto [c_offset, c_pitch] = place(c);
  pack_a_->set({a.buffer, packed_a_.get(), word(rows), word(inner), a_offset, a_pitch});
  pack_b_->set({b.buffer, packed_b_.get(), word(columns), word(inner), b_offset, b_pitch});
  multiply_->set({packed_a_.get(), packed_b_.get(), c.buffer, c.buffer, c.buffer, gemm::factor(element_, -1),
                  gemm::factor(element_, 1), word(rows), word(columns), word(inner), c_offset, c_pitch});
  queue.enqueue(*pack_a_, {tiles.depths * tiles.row_tiles, 1});
  queue.enqueue(*pack_b_, {tiles.depths * tiles.depth / gemm::packed_rows, 1});
  queue.enqueue(*multiply_, {tiles.groups(), 1});
}

}  // namespace plumb::hpl
