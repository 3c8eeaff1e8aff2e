// gemm's native kernels on parts of matrices, and a triangular solve made of them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "benchmarks/hpcc/gemm/cpu.hpp"
#include "benchmarks/hpcc/hpl/products.hpp"
#include "device/host_simd.hpp"

namespace plumb::hpl {

namespace {

constexpr std::size_t smallest_solve = 16, strip_columns = 256;

template <class T>
[[gnu::always_inline]] inline void solve_strip(const T* l, std::size_t l_pitch, std::size_t rows, T* b,
                                               std::size_t b_pitch, std::size_t columns) {
  for (std::size_t k = 0; k < rows; ++k)
    for (std::size_t i = k + 1; i < rows; ++i) {
      const T factor = l[i * l_pitch + k];
      const T* from = b + k * b_pitch;
      T* to = b + i * b_pitch;
#pragma GCC ivdep
      for (std::size_t j = 0; j < columns; ++j) to[j] -= factor * from[j];
    }
}
template <class T>
PLUMBLINE_VECTORS_OF_64 void solve_strip_64(const T* l, std::size_t lp, std::size_t rows, T* b, std::size_t bp,
                                            std::size_t columns) {
  solve_strip(l, lp, rows, b, bp, columns);
}
template <class T>
PLUMBLINE_VECTORS_OF_32 void solve_strip_32(const T* l, std::size_t lp, std::size_t rows, T* b, std::size_t bp,
                                            std::size_t columns) {
  solve_strip(l, lp, rows, b, bp, columns);
}
template <class T>
void solve_strip_16(const T* l, std::size_t lp, std::size_t rows, T* b, std::size_t bp, std::size_t columns) {
  solve_strip(l, lp, rows, b, bp, columns);
}

template <class T>
class NativeProducts final : public FactorLibrary {
 public:
  NativeProducts(Device& device, const Layout& layout, ScalarType type) : element_(gemm::element_of(to_string(type))) {
    const std::size_t longest =
        std::max(layout.rows.count(), layout.columns.count()) + 64;  // including a panel's padding
    const gemm::Problem largest = problem(longest, longest, layout.block, 0);
    const gemm::CpuTiles tiles = gemm::cpu_tiles(largest, host_vector_bytes());
    if (tiles.depths > 1)
      throw Unsupported(fmt::format("the kernels of runtime native multiply blocks of at most {} columns of {}, not {}",
                                    layout.block / tiles.depths, to_string(type), layout.block));
    // Rounding may make tiles of narrower problems deeper.
    const std::size_t more = (layout.block + 2 * gemm::packed_rows) * 2 * tiles.columns;
    packed_a_ = device.allocate((tiles.packed_a_items() + more) * sizeof(T), {});
    packed_b_ = device.allocate((tiles.packed_b_items() + more) * sizeof(T), {});
    without_gaps_ = device.allocate(layout.block * layout.block * sizeof(T), {});
    const std::size_t vector = host_vector_bytes();
    solve_ = vector == 64 ? solve_strip_64<T> : vector == 32 ? solve_strip_32<T> : solve_strip_16<T>;
  }

  std::string name() const override { return ""; }

  void subtract_product(Queue& queue, std::size_t rows, std::size_t columns, std::size_t inner, const MatrixPart& a,
                        const MatrixPart& b, const MatrixPart& c) override {
    if (rows == 0 || columns == 0 || inner == 0) return;
    queue.finish();
    const gemm::Problem wanted = problem(rows, columns, inner, c.pitch);
    const gemm::CpuTiles tiles = gemm::cpu_tiles(wanted, host_vector_bytes());
    const auto kernels = gemm::native_kernels(wanted, tiles);
    const BufferView from_a = a.pitch == inner ? view(a) : copied(a, rows, inner), out = view(c);
    const std::vector<KernelArgument> pack_a{from_a, whole(*packed_a_)}, pack_b{view(b), whole(*packed_b_)},
        multiply{whole(*packed_a_), whole(*packed_b_), out, out, out, T{-1}, T{1}};
    kernels[0].second(pack_a, {});
    kernels[1].second(pack_b, {});
    kernels[2].second(multiply, {});
  }

  void solve_unit_lower(Queue& queue, std::size_t rows, std::size_t columns, const MatrixPart& l,
                        const MatrixPart& b) override {
    if (rows <= smallest_solve) {
      for (std::size_t j = 0; j < columns; j += strip_columns)
        solve_(at(l), l.pitch, rows, at(b) + j, b.pitch, std::min(strip_columns, columns - j));
      return;
    }
    const std::size_t half = rows / 2 / 8 * 8;
    const MatrixPart lower{b.buffer, b.offset + half * b.pitch, b.pitch};
    solve_unit_lower(queue, half, columns, l, b);
    subtract_product(queue, rows - half, columns, half, {l.buffer, l.offset + half * l.pitch, l.pitch}, b, lower);
    solve_unit_lower(queue, rows - half, columns, {l.buffer, l.offset + half * l.pitch + half, l.pitch}, lower);
  }

 private:
  gemm::Problem problem(std::size_t rows, std::size_t columns, std::size_t inner, std::size_t pitch) const {
    return {element_, rows, columns, inner, -1, 1, pitch};
  }
  static T* at(const MatrixPart& part) { return reinterpret_cast<T*>(part.buffer->host_pointer()) + part.offset; }
  static BufferView view(const MatrixPart& part) {
    return {part.buffer, part.offset * sizeof(T), part.buffer->size() - part.offset * sizeof(T)};
  }
  BufferView copied(const MatrixPart& part, std::size_t rows, std::size_t columns) {
    auto* to = reinterpret_cast<T*>(without_gaps_->host_pointer());
    for (std::size_t i = 0; i < rows; ++i)
      std::memcpy(to + i * columns, at(part) + i * part.pitch, columns * sizeof(T));
    return whole(*without_gaps_);
  }

  gemm::Element element_;
  std::unique_ptr<Buffer> packed_a_, packed_b_, without_gaps_;
  void (*solve_)(const T*, std::size_t, std::size_t, T*, std::size_t, std::size_t) = nullptr;
};

}  // namespace

std::unique_ptr<FactorLibrary> make_native_products(Device& device, const Layout& layout, ScalarType type) {
  if (type == ScalarType::f32) return std::make_unique<NativeProducts<float>>(device, layout, type);
  return std::make_unique<NativeProducts<double>>(device, layout, type);
}

}  // namespace plumb::hpl
