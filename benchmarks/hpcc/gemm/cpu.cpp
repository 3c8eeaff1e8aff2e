#include "benchmarks/hpcc/gemm/cpu.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/hpcc/common/single_device.hpp"
#include "benchmarks/hpcc/gemm/form.hpp"
#include "core/embedded.hpp"
#include "device/host_simd.hpp"

namespace plumb::gemm {

namespace {

class CpuForm final : public OneQueueForm {
 public:
  CpuForm(Session& session, const Problem& problem)
      : OneQueueForm(session, problem), tiles_(cpu_tiles(problem, host_vector_bytes())) {
    const std::size_t computed = size_of(problem.element.computed);
    const Buffer& packed_a = add_scratch(tiles_.packed_a_items() * computed);
    const Buffer& packed_b = add_scratch(tiles_.packed_b_items() * computed);
    // Partial sums of float and double are kept in the result; half lacks the precision.
    sums_are_out_ = problem.element.stored == problem.element.computed;
    const Buffer& sums = sums_are_out_ ? *out_ : add_scratch(problem.c_items() * computed);
    program_ = session.device.build(session.source({.name = "cpu.cl",
                                                    .opencl = embedded_text("benchmarks/hpcc/gemm/cpu.cl"),
                                                    .options = cpu_options(problem.element, tiles_),
                                                    .native = native_kernels(problem, tiles_)}));
    pack_a_ = program_->kernel("pack_a");
    pack_b_ = program_->kernel("pack_b");
    multiply_ = program_->kernel("multiply");
    const std::uint32_t rows = word(problem.rows), columns = word(problem.columns), inner = word(problem.inner);
    const auto at = [](const auto& buffer) { return static_cast<const Buffer*>(buffer.get()); };
    pack_a_->set({at(a_), &packed_a, rows, inner});
    pack_b_->set({at(b_), &packed_b, columns, inner});
    multiply_->set({&packed_a, &packed_b, at(c_), at(out_), &sums, factor(problem.element, problem.alpha),
                    factor(problem.element, problem.beta), rows, columns, inner});
  }

  void enqueue(std::uint64_t later) override {
    pack_a_->set(0, a(later));
    multiply_->set(2, c(later));
    multiply_->set(3, out(later));
    if (sums_are_out_) multiply_->set(4, out(later));
    queue_->enqueue(*pack_a_, {tiles_.depths * tiles_.row_tiles, 1});
    queue_->enqueue(*pack_b_, {tiles_.depths * tiles_.depth / packed_rows, 1});
    queue_->enqueue(*multiply_, {tiles_.groups(), 1});
  }

  Json facts() const override {
    return {{"variant", "nd_range"},
            {"kernel", "cpu"},
            {"tile", fmt::format("{}x{}x{}", tiles_.rows, tiles_.columns, tiles_.depth)},
            {"vector_width", tiles_.width}};
  }

 private:
  CpuTiles tiles_;
  bool sums_are_out_ = false;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> pack_a_, pack_b_, multiply_;
};

}  // namespace

CpuTiles cpu_tiles(const Problem& problem, std::size_t vector_bytes) {
  const bool in_double = problem.element.computed == ScalarType::f64;
  CpuTiles tiles;
  tiles.width = vector_bytes / size_of(problem.element.computed);
  // As many sums as fit in registers beside a row of B: 24 of 32 (AVX-512), 12 of 16.
  tiles.rows = 6;
  tiles.columns = tiles.width * (vector_bytes == 64 ? 4 : 2);
  // A tile of A and one of B fit in the first cache, a band of A's tiles in the second.
  const std::size_t longest = in_double ? 256 : 512;
  tiles.depths = pieces(problem.inner, longest);
  tiles.depth = pieces(pieces(problem.inner, tiles.depths), packed_rows) * packed_rows;
  tiles.row_tiles = pieces(problem.rows, tiles.rows);
  tiles.column_tiles = pieces(problem.columns, tiles.columns);
  tiles.band = std::min<std::size_t>(24, tiles.row_tiles);
  tiles.strip = std::min<std::size_t>(16, tiles.column_tiles);
  return tiles;
}

std::string cpu_options(const Element& element, const CpuTiles& tiles) {
  return fmt::format("{} -DWIDTH={} -DTILE_ROWS={} -DTILE_COLUMNS={} -DDEPTH={} -DBAND={} -DSTRIP={} -DPACKED_ROWS={}",
                     element_options(element), tiles.width, tiles.rows, tiles.columns, tiles.depth, tiles.band,
                     tiles.strip, packed_rows);
}

std::uint64_t cpu_scratch_bytes(const Problem& problem) {
  const CpuTiles tiles = cpu_tiles(problem, host_vector_bytes());
  const bool sums = problem.element.stored != problem.element.computed;
  return (tiles.packed_a_items() + tiles.packed_b_items() + (sums ? problem.c_items() : 0)) *
         size_of(problem.element.computed);
}

std::unique_ptr<Form> make_cpu(Session& session, const Problem& problem) {
  if (problem.element.short_factors)
    throw Unsupported("type tf32 needs an NVIDIA GPU's matrix units (--kernel gpu computes the same without them)");
  hpcc::require_type(session.device.info(), problem.element.computed);
  return std::make_unique<CpuForm>(session, problem);
}

}  // namespace plumb::gemm
