#include "benchmarks/hpcc/hpl/native_loops.hpp"

#include <cmath>
#include <cstring>

#include "device/host_simd.hpp"

namespace plumb::hpl {

namespace {

template <class T, std::size_t bytes>
struct Wide {
  using Vector [[gnu::vector_size(bytes)]] = T;
  static constexpr std::size_t width = bytes / sizeof(T);
  [[gnu::always_inline]] static void load(Vector& to, const T* from) { std::memcpy(&to, from, bytes); }
  [[gnu::always_inline]] static void store(const Vector& from, T* to) { std::memcpy(to, &from, bytes); }
};

template <class T, std::size_t bytes>
[[gnu::always_inline]] inline std::size_t largest(const T* x, std::size_t n) {
  using W = Wide<T, bytes>;
  typename W::Vector most = {}, value;
  std::size_t i = 0;
  most -= T{1};  // below any magnitude
  for (; i + W::width <= n; i += W::width) {
    W::load(value, x + i);
    value = value < T{0} ? -value : value;
    most = value > most ? value : most;
  }
  T top = -1;
  for (std::size_t k = 0; k < W::width; ++k) top = most[k] > top ? most[k] : top;
  for (; i < n; ++i) top = std::abs(x[i]) > top ? std::abs(x[i]) : top;
  for (i = 0; i < n; ++i)
    if (std::abs(x[i]) == top) return i;
  return n;
}

template <class T, std::size_t bytes>
[[gnu::always_inline]] inline void eliminate(T* l, std::size_t n, T factor, std::size_t columns, const T* u) {
  using W = Wide<T, bytes>;
  typename W::Vector own, other;
  std::size_t i = 0;
  for (; i + W::width <= n; i += W::width) {
    W::load(own, l + i);
    own *= factor;
    W::store(own, l + i);
    for (std::size_t c = 0; c < columns; ++c) {
      T* column = l + (c + 1) * n + i;
      W::load(other, column);
      other -= own * u[c];
      W::store(other, column);
    }
  }
  for (; i < n; ++i) {
    l[i] *= factor;
    for (std::size_t c = 0; c < columns; ++c) l[(c + 1) * n + i] -= l[i] * u[c];
  }
}

template <class T, std::size_t bytes>
[[gnu::always_inline]] inline void subtract(const T* x, T a, T* y, std::size_t n) {
  using W = Wide<T, bytes>;
  typename W::Vector from, to;
  std::size_t i = 0;
  for (; i + W::width <= n; i += W::width) {
    W::load(from, x + i);
    W::load(to, y + i);
    to -= from * a;
    W::store(to, y + i);
  }
  for (; i < n; ++i) y[i] -= x[i] * a;
}

template <class T, std::size_t bytes>
[[gnu::always_inline]] inline T dot(const T* x, const T* y, std::size_t n) {
  using W = Wide<T, bytes>;
  typename W::Vector one, other, sums[2] = {};
  std::size_t i = 0;
  for (; i + 2 * W::width <= n; i += 2 * W::width)
    for (std::size_t s = 0; s < 2; ++s) {
      W::load(one, x + i + s * W::width);
      W::load(other, y + i + s * W::width);
      sums[s] += one * other;
    }
  T sum = 0;
  sums[0] += sums[1];
  for (std::size_t k = 0; k < W::width; ++k) sum += sums[0][k];
  for (; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

#define PLUMBLINE_HPL_LOOPS(BYTES, TARGET)                                                        \
  template <class T>                                                                              \
  TARGET std::size_t largest_##BYTES(const T* x, std::size_t n) {                                 \
    return largest<T, BYTES>(x, n);                                                               \
  }                                                                                               \
  template <class T>                                                                              \
  TARGET void eliminate_##BYTES(T* l, std::size_t n, T factor, std::size_t columns, const T* u) { \
    eliminate<T, BYTES>(l, n, factor, columns, u);                                                \
  }                                                                                               \
  template <class T>                                                                              \
  TARGET void subtract_##BYTES(const T* x, T a, T* y, std::size_t n) {                            \
    subtract<T, BYTES>(x, a, y, n);                                                               \
  }                                                                                               \
  template <class T>                                                                              \
  TARGET T dot_##BYTES(const T* x, const T* y, std::size_t n) {                                   \
    return dot<T, BYTES>(x, y, n);                                                                \
  }                                                                                               \
  template <class T>                                                                              \
  Loops<T> loops_##BYTES() {                                                                      \
    return {largest_##BYTES<T>, eliminate_##BYTES<T>, subtract_##BYTES<T>, dot_##BYTES<T>};       \
  }

PLUMBLINE_HPL_LOOPS(64, PLUMBLINE_VECTORS_OF_64)
PLUMBLINE_HPL_LOOPS(32, PLUMBLINE_VECTORS_OF_32)
PLUMBLINE_HPL_LOOPS(16, )

#undef PLUMBLINE_HPL_LOOPS

}  // namespace

template <class T>
Loops<T> native_loops() {
  const std::size_t bytes = host_vector_bytes();
  return bytes == 64 ? loops_64<T>() : bytes == 32 ? loops_32<T>() : loops_16<T>();
}

template Loops<float> native_loops<float>();
template Loops<double> native_loops<double>();

}  // namespace plumb::hpl
