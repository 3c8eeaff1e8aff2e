// cpu.cl's kernels for runtime `native`: the same packing and tiles, with the innermost loop compiled for each width of
// vector registers.
#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "benchmarks/hpcc/gemm/cpu.hpp"
#include "device/host_simd.hpp"

namespace plumb::gemm {

namespace {

// A stored half. A's, B's and C's are finite.
struct Half {
  std::uint16_t bits;
};

float load(Half from) {
  // Fraction and exponent of a half are those of a float except for the exponent's bias, corrected by 2^(127 - 15).
  const auto magnitude = std::bit_cast<float>(static_cast<std::uint32_t>(from.bits & 0x7fff) << 13) * 0x1p112f;
  return (from.bits & 0x8000) != 0 ? -magnitude : magnitude;
}
float load(float from) {
  return from;
}
double load(double from) {
  return from;
}

// Rounds to nearest, ties to even, by arithmetic alone, so that loops vectorise. NaN becomes infinity.
void store(float value, Half& to) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  const std::uint32_t normal = (magnitude + 0xfff + ((magnitude >> 13) & 1) - (112u << 23)) >> 13;
  // Below 2^-14 halves are multiples of 2^-24, the last place of floats from 0.5 on.
  const std::uint32_t small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  const std::uint32_t rounded = magnitude < (113u << 23) ? small : std::min(normal, 0x7c00u);
  to.bits = static_cast<std::uint16_t>((bits >> 16 & 0x8000) | rounded);
}
void store(float value, float& to) {
  to = value;
}
void store(double value, double& to) {
  to = value;
}

template <class T>
struct ComputedIn {
  using Type = T;
};
template <>
struct ComputedIn<Half> {
  using Type = float;
};

constexpr std::size_t most_tile_items = 6 * 64;
constexpr std::size_t unroll = 4;

// Where a tile's sums go: added to `sums`, if there are any yet; and, with `c`, alpha times that plus beta C.
template <class R>
struct TileTarget {
  const R *sums = nullptr, *c = nullptr;
  R* to = nullptr;
  std::size_t pitch = 0;  // of all three
  R alpha = 1, beta = 0;
};

// Sum over depth of a[row][k] b[k][column]; see cpu.cl. The compiler keeps the sums in registers to their end.
template <class R>
using TileProduct = void (*)(const R* a, const R* b, std::size_t depth, const TileTarget<R>& target);

template <class R, std::size_t vector_bytes, std::size_t rows, std::size_t vectors>
[[gnu::always_inline]] inline void tile_product(const R* a, const R* b, std::size_t depth,
                                                const TileTarget<R>& target) {
  using Vector [[gnu::vector_size(vector_bytes)]] = R;
  constexpr std::size_t width = vector_bytes / sizeof(R), ahead = 8;
  if (const R* soon = target.c != nullptr ? target.c : target.sums)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t v = 0; v < vectors; ++v) __builtin_prefetch(soon + i * target.pitch + v * width, 1);
  Vector sums[rows][vectors] = {};
  for (std::size_t k = 0; k < depth; k += unroll) {
#pragma GCC unroll 4
    for (std::size_t u = 0; u < unroll; ++u, b += vectors * width) {
      Vector from_b[vectors];
#pragma GCC unroll 4
      for (std::size_t v = 0; v < vectors; ++v) {
        std::memcpy(&from_b[v], b + v * width, sizeof(Vector));
        __builtin_prefetch(b + (ahead * vectors + v) * width);
      }
#pragma GCC unroll 6
      for (std::size_t i = 0; i < rows; ++i) {
        const R from_a = a[i * depth + k + u];
#pragma GCC unroll 4
        for (std::size_t v = 0; v < vectors; ++v) sums[i][v] += from_a * from_b[v];
      }
    }
  }
#pragma GCC unroll 6
  for (std::size_t i = 0; i < rows; ++i)
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::size_t at = i * target.pitch + v * width;
      Vector whole = sums[i][v], more;
      if (target.sums != nullptr) {
        std::memcpy(&more, target.sums + at, sizeof more);
        whole += more;
      }
      if (target.c != nullptr) {
        std::memcpy(&more, target.c + at, sizeof more);
        whole = target.alpha * whole + target.beta * more;
      }
      std::memcpy(target.to + at, &whole, sizeof whole);
    }
}

template <class R>
PLUMBLINE_VECTORS_OF_64 void tile_product_64(const R* a, const R* b, std::size_t depth, const TileTarget<R>& target) {
  tile_product<R, 64, 6, 4>(a, b, depth, target);
}
template <class R>
PLUMBLINE_VECTORS_OF_32 void tile_product_32(const R* a, const R* b, std::size_t depth, const TileTarget<R>& target) {
  tile_product<R, 32, 6, 2>(a, b, depth, target);
}
template <class R>
void tile_product_16(const R* a, const R* b, std::size_t depth, const TileTarget<R>& target) {
  tile_product<R, 16, 6, 2>(a, b, depth, target);
}

template <class R>
TileProduct<R> choose_tile_product(const CpuTiles& tiles) {
  const std::size_t vector_bytes = tiles.width * sizeof(R);
  return vector_bytes == 64 ? tile_product_64<R> : vector_bytes == 32 ? tile_product_32<R> : tile_product_16<R>;
}

template <class T>
T* pointer(const KernelArgument& argument) {
  return reinterpret_cast<T*>(host_pointer(argument));
}

template <class T>
class CpuKernels {
 public:
  using R = ComputedIn<T>::Type;
  using Arguments = std::span<const KernelArgument>;

  CpuKernels(const Problem& problem, const CpuTiles& tiles)
      : problem_(problem), tiles_(tiles), tile_product_(choose_tile_product<R>(tiles)) {}

  void pack_a(Arguments arguments) const {
    const T* a = pointer<const T>(arguments[0]);
    R* packed = pointer<R>(arguments[1]);
#pragma omp parallel for schedule(static)
    for (std::size_t tile = 0; tile < tiles_.depths * tiles_.row_tiles; ++tile) {
      const std::size_t first_row = tile % tiles_.row_tiles * tiles_.rows,
                        first = tile / tiles_.row_tiles * tiles_.depth;
      const std::size_t length = std::min(tiles_.depth, problem_.inner - first);
      R* to = packed + tile * tiles_.rows * tiles_.depth;
      for (std::size_t row = first_row; row < first_row + tiles_.rows; ++row, to += tiles_.depth) {
        const std::size_t items = row < problem_.rows ? length : 0;
        for (std::size_t k = 0; k < items; ++k) to[k] = load(a[row * problem_.inner + first + k]);
        std::fill(to + items, to + tiles_.depth, R{0});
      }
    }
  }

  void pack_b(Arguments arguments) const {
    const T* b = pointer<const T>(arguments[0]);
    R* packed = pointer<R>(arguments[1]);
#pragma omp parallel for schedule(static, packed_rows)
    for (std::size_t row = 0; row < tiles_.depths * tiles_.depth; ++row) {
      R* to = packed + (row / tiles_.depth * tiles_.column_tiles * tiles_.depth + row % tiles_.depth) * tiles_.columns;
      for (std::size_t tile = 0; tile < tiles_.column_tiles; ++tile, to += tiles_.depth * tiles_.columns) {
        const std::size_t first = tile * tiles_.columns;
        const std::size_t items = row < problem_.inner ? std::min(tiles_.columns, problem_.columns - first) : 0;
        for (std::size_t j = 0; j < items; ++j) to[j] = load(b[row * problem_.columns + first + j]);
        std::fill(to + items, to + tiles_.columns, R{0});
      }
    }
  }

  void multiply(Arguments arguments) const {
    const Product product{pointer<const R>(arguments[0]), pointer<const R>(arguments[1]),
                          pointer<const T>(arguments[2]), pointer<T>(arguments[3]),
                          pointer<R>(arguments[4]),       std::get<R>(arguments[5]),
                          std::get<R>(arguments[6])};
    const std::size_t bands = (tiles_.row_tiles + tiles_.band - 1) / tiles_.band;
#pragma omp parallel for schedule(dynamic)
    for (std::size_t group = 0; group < tiles_.groups(); ++group)
      multiply_group(product, group % bands * tiles_.band, group / bands * tiles_.strip);
  }

 private:
  struct Product {
    const R *packed_a, *packed_b;
    const T* c;
    T* out;
    R *sums, alpha, beta;
  };

  void multiply_group(const Product& product, std::size_t first_row_tile, std::size_t first_column_tile) const {
    const std::size_t row_end = std::min(tiles_.row_tiles, first_row_tile + tiles_.band);
    const std::size_t column_end = std::min(tiles_.column_tiles, first_column_tile + tiles_.strip);
    for (std::size_t depth = 0; depth < tiles_.depths; ++depth)
      for (std::size_t column = first_column_tile; column < column_end; ++column)
        for (std::size_t row = first_row_tile; row < row_end; ++row) multiply_tile(product, depth, row, column);
  }

  void multiply_tile(const Product& product, std::size_t depth, std::size_t row_tile, std::size_t column_tile) const {
    const R* a = product.packed_a + (depth * tiles_.row_tiles + row_tile) * tiles_.rows * tiles_.depth;
    const R* b = product.packed_b + (depth * tiles_.column_tiles + column_tile) * tiles_.columns * tiles_.depth;
    const std::size_t row = row_tile * tiles_.rows, column = column_tile * tiles_.columns;
    const bool last = depth + 1 == tiles_.depths;
    const bool whole = row + tiles_.rows <= problem_.rows && column + tiles_.columns <= problem_.columns;
    if (whole && (!last || std::is_same_v<T, R>)) {
      const std::size_t at = row * pitch() + column;
      TileTarget<R> target;
      target.sums = depth == 0 ? nullptr : product.sums + at;
      target.to = product.sums + at;
      target.pitch = pitch();
      if constexpr (std::is_same_v<T, R>)
        if (last) target = {target.sums, product.c + at, product.out + at, pitch(), product.alpha, product.beta};
      tile_product_(a, b, tiles_.depth, target);
    } else {
      alignas(64) R tile[most_tile_items];
      TileTarget<R> target;
      target.to = tile;
      target.pitch = tiles_.columns;
      tile_product_(a, b, tiles_.depth, target);
      add_tile(product, tile, depth, row, column);
    }
  }

  void add_tile(const Product& product, const R* tile, std::size_t depth, std::size_t row, std::size_t column) const {
    const std::size_t rows = std::min(tiles_.rows, problem_.rows - row);
    const std::size_t columns = std::min(tiles_.columns, problem_.columns - column);
    const bool first = depth == 0, last = depth + 1 == tiles_.depths;
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t at = (row + i) * pitch() + column;
      const R* sums = tile + i * tiles_.columns;
      for (std::size_t j = 0; j < columns; ++j) {
        const R whole = first ? sums[j] : product.sums[at + j] + sums[j];
        if (last)
          store(product.alpha * whole + product.beta * load(product.c[at + j]), product.out[at + j]);
        else
          product.sums[at + j] = whole;
      }
    }
  }

  std::size_t pitch() const {
    return problem_.c_pitch > 0 ? problem_.c_pitch : problem_.columns;
  }

  Problem problem_;
  CpuTiles tiles_;
  TileProduct<R> tile_product_;
};

template <class T>
std::vector<std::pair<std::string, KernelSource::NativeKernel>> kernels_of(const Problem& problem,
                                                                           const CpuTiles& tiles) {
  const CpuKernels<T> kernels(problem, tiles);
  return {{"pack_a", [kernels](auto arguments, const KernelRange&) { kernels.pack_a(arguments); }},
          {"pack_b", [kernels](auto arguments, const KernelRange&) { kernels.pack_b(arguments); }},
          {"multiply", [kernels](auto arguments, const KernelRange&) { kernels.multiply(arguments); }}};
}

}  // namespace

std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels(const Problem& problem,
                                                                               const CpuTiles& tiles) {
  if (problem.element.computed == ScalarType::f64) return kernels_of<double>(problem, tiles);
  if (problem.element.stored == ScalarType::f16) return kernels_of<Half>(problem, tiles);
  return kernels_of<float>(problem, tiles);
}

}  // namespace plumb::gemm
