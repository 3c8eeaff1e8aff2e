// cpu.cl's kernel for runtime `native`: cores share the blocks' rows of tiles. A tile has as many rows as a cache
// line has numbers, and is a line wide, so every line is read once and written past the caches.
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "benchmarks/hpcc/ptrans/kernels.hpp"
#include "device/native/halves.hpp"
#include "device/native/past_caches.hpp"

namespace plumb::ptrans {

namespace {

using Half = std::uint16_t;

constexpr std::uint64_t worth_sharing = std::uint64_t{1} << 15;  // numbers, minimum for several cores

template <class T>
constexpr std::uint64_t of_a_line = cache_line / sizeof(T);  // numbers

template <class T>
void add_line(const T* b, const T* image, T* c) {
  for (std::uint64_t i = 0; i < of_a_line<T>; ++i) c[i] = b[i] + image[i];
}
void add_line(const Half* b, const Half* image, Half* c) {
  alignas(cache_line) float wide_b[of_a_line<Half>], wide_image[of_a_line<Half>];
  widen_halves(b, wide_b, of_a_line<Half>);
  widen_halves(image, wide_image, of_a_line<Half>);
  for (std::uint64_t i = 0; i < of_a_line<Half>; ++i) wide_b[i] += wide_image[i];
  narrow_to_halves(wide_b, c, of_a_line<Half>);
}

template <class T>
T sum(T b, T image) {
  if constexpr (std::is_same_v<T, Half>) {
    float wide[2];
    const Half both[2] = {b, image};
    widen_halves(both, wide, 2);
    wide[0] += wide[1];
    Half result;
    narrow_to_halves(wide, &result, 1);
    return result;
  } else {
    return b + image;
  }
}

// One block: its mirror image, and its position in B and C.
template <class T>
struct Place {
  const T *image, *b;
  T* c;
  std::uint64_t rows, columns;
};

template <class T>
bool is_aligned(const T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % cache_line == 0;
}

// 16 bytes of numbers: a vector register of any processor with vectors.
template <class T>
struct VectorOf {
  using type __attribute__((vector_size(16))) = T;
};
template <class T>
using Vector = typename VectorOf<T>::type;
template <class T>
constexpr std::size_t of_a_vector = 16 / sizeof(T);  // numbers

// Interleaves the first (with `half` = 1, the second) halves of two vectors.
template <class T, std::size_t half, std::size_t... i>
Vector<T> in_turn(Vector<T> a, Vector<T> b, std::index_sequence<i...>) {
  constexpr std::size_t width = of_a_vector<T>;
  return __builtin_shufflevector(a, b, (half * width / 2 + i / 2 + i % 2 * width)...);
}

// Transposes as many vectors as each has numbers: each pass halves the distance between a column's numbers.
template <class T>
void turn(Vector<T> (&rows)[of_a_vector<T>]) {
  constexpr std::size_t width = of_a_vector<T>;
  constexpr auto places = std::make_index_sequence<width>{};
  for (std::size_t distance = width; distance > 1; distance /= 2) {
    Vector<T> next[width];
    for (std::size_t i = 0; i < width / 2; ++i) {
      next[2 * i] = in_turn<T, 0>(rows[i], rows[i + width / 2], places);
      next[2 * i + 1] = in_turn<T, 1>(rows[i], rows[i + width / 2], places);
    }
    std::copy_n(next, width, rows);
  }
}

// `to`, a line wide, becomes the mirror image of as many rows, `pitch` numbers apart.
template <class T>
void turn_tile(const T* from, std::uint64_t pitch, T* to) {
  constexpr std::uint64_t edge = of_a_line<T>, width = of_a_vector<T>;
  for (std::uint64_t j = 0; j < edge; j += width)
    for (std::uint64_t i = 0; i < edge; i += width) {
      Vector<T> rows[width];
      for (std::uint64_t k = 0; k < width; ++k) std::memcpy(&rows[k], from + (j + k) * pitch + i, sizeof rows[k]);
      turn<T>(rows);
      for (std::uint64_t k = 0; k < width; ++k) std::memcpy(to + (i + k) * edge + j, &rows[k], sizeof rows[k]);
    }
}

// Distance of prefetches in tiles: a tile's image is in as many rows as it has lines, which hardware prefetchers do not
// detect.
constexpr std::uint64_t tiles_ahead = 4;

// A whole tile of lines.
template <class T>
void make_tile(const Place<T>& p, std::uint64_t top, std::uint64_t left) {
  constexpr std::uint64_t edge = of_a_line<T>;
  alignas(cache_line) T image[edge * edge], line[edge];
  const T* from = p.image + left * p.rows + top;
  for (std::uint64_t j = 0; j < edge; ++j) __builtin_prefetch(from + (tiles_ahead * edge + j) * p.rows);
  turn_tile(from, p.rows, image);
  for (std::uint64_t i = 0; i < edge; ++i) {
    const std::uint64_t at = (top + i) * p.columns + left;
    __builtin_prefetch(p.b + at + tiles_ahead * edge);
    add_line(p.b + at, image + i * edge, line);
    store_line(p.c + at, line);
  }
}

template <class T>
void make_numbers(const Place<T>& p, std::uint64_t top, std::uint64_t bottom, std::uint64_t left, std::uint64_t right) {
  for (std::uint64_t i = top; i < bottom; ++i)
    for (std::uint64_t j = left; j < right; ++j)
      p.c[i * p.columns + j] = sum(p.b[i * p.columns + j], p.image[j * p.rows + i]);
}

// A tile's rows of a block, from `top` on.
template <class T>
void make_rows(const Place<T>& p, std::uint64_t top) {
  constexpr std::uint64_t edge = of_a_line<T>;
  const std::uint64_t bottom = std::min(top + edge, p.rows);
  const bool in_lines = is_aligned(p.c) && p.columns % edge == 0 && bottom == top + edge;
  if (!in_lines) return make_numbers(p, top, bottom, 0, p.columns);
  for (std::uint64_t left = 0; left < p.columns; left += edge) make_tile(p, top, left);
}

template <class T>
T* numbers(const KernelArgument& argument) {
  return reinterpret_cast<T*>(host_pointer(argument));
}

template <class T>
void transpose(std::span<const KernelArgument> arguments, std::uint64_t blocks, std::uint64_t rows_of_block) {
  const auto* table = numbers<const std::uint64_t>(arguments[3]);
  const T* from = numbers<const T>(arguments[0]) + std::get<std::uint64_t>(arguments[4]);
  const T* b = numbers<const T>(arguments[1]) + std::get<std::uint64_t>(arguments[5]);
  T* c = numbers<T>(arguments[2]) + std::get<std::uint64_t>(arguments[6]);
  const std::uint64_t strips = (rows_of_block + of_a_line<T> - 1) / of_a_line<T>;
#pragma omp parallel if (blocks * rows_of_block * rows_of_block >= worth_sharing)
  {
#pragma omp for schedule(static)
    for (std::uint64_t strip = 0; strip < blocks * strips; ++strip) {
      const std::uint64_t* entry = table + 4 * (strip / strips);
      const Place<T> place{from + entry[1], b + entry[0], c + entry[0], entry[2], entry[3]};
      if (const std::uint64_t top = strip % strips * of_a_line<T>; top < place.rows) make_rows(place, top);
    }
    finish_stores();
  }
}

template <class T>
std::vector<std::pair<std::string, KernelSource::NativeKernel>> kernels_of(const KernelForm& form) {
  return {{"transpose", [form](std::span<const KernelArgument> arguments, const KernelRange& range) {
             const auto tiles = std::get<std::uint64_t>(arguments[7]);
             transpose<T>(arguments, range.global / (tiles * tiles * form.items), tiles * form.tile);
           }}};
}

}  // namespace

std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels(const KernelForm& form) {
  if (form.type == ScalarType::f16) return kernels_of<Half>(form);
  if (form.type == ScalarType::f32) return kernels_of<float>(form);
  return kernels_of<double>(form);
}

}  // namespace plumb::ptrans
