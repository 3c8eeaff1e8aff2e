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
[[gnu::always_inline]] inline void eliminate(T* l, std::size_t n, std::size_t pitch, T factor, std::size_t columns,
                                             const T* u) {
  using W = Wide<T, bytes>;
  typename W::Vector own, other;
  std::size_t i = 0;
  for (; i + W::width <= n; i += W::width) {
    W::load(own, l + i);
    own *= factor;
    W::store(own, l + i);
    for (std::size_t c = 0; c < columns; ++c) {
      T* column = l + (c + 1) * pitch + i;
      W::load(other, column);
      other -= own * u[c];
      W::store(other, column);
    }
  }
  for (; i < n; ++i) {
    l[i] *= factor;
    for (std::size_t c = 0; c < columns; ++c) l[(c + 1) * pitch + i] -= l[i] * u[c];
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

template <class T>
PLUMBLINE_VECTORS_OF_64 std::size_t largest_64(const T* x, std::size_t n) {
  return largest<T, 64>(x, n);
}
template <class T>
PLUMBLINE_VECTORS_OF_64 void eliminate_64(T* l, std::size_t n, std::size_t pitch, T factor, std::size_t columns,
                                          const T* u) {
  eliminate<T, 64>(l, n, pitch, factor, columns, u);
}
template <class T>
PLUMBLINE_VECTORS_OF_64 void subtract_64(const T* x, T a, T* y, std::size_t n) {
  subtract<T, 64>(x, a, y, n);
}
template <class T>
PLUMBLINE_VECTORS_OF_64 T dot_64(const T* x, const T* y, std::size_t n) {
  return dot<T, 64>(x, y, n);
}

template <class T>
PLUMBLINE_VECTORS_OF_32 std::size_t largest_32(const T* x, std::size_t n) {
  return largest<T, 32>(x, n);
}
template <class T>
PLUMBLINE_VECTORS_OF_32 void eliminate_32(T* l, std::size_t n, std::size_t pitch, T factor, std::size_t columns,
                                          const T* u) {
  eliminate<T, 32>(l, n, pitch, factor, columns, u);
}
template <class T>
PLUMBLINE_VECTORS_OF_32 void subtract_32(const T* x, T a, T* y, std::size_t n) {
  subtract<T, 32>(x, a, y, n);
}
template <class T>
PLUMBLINE_VECTORS_OF_32 T dot_32(const T* x, const T* y, std::size_t n) {
  return dot<T, 32>(x, y, n);
}

template <class T>
std::size_t largest_16(const T* x, std::size_t n) {
  return largest<T, 16>(x, n);
}
template <class T>
void eliminate_16(T* l, std::size_t n, std::size_t pitch, T factor, std::size_t columns, const T* u) {
  eliminate<T, 16>(l, n, pitch, factor, columns, u);
}
template <class T>
void subtract_16(const T* x, T a, T* y, std::size_t n) {
  subtract<T, 16>(x, a, y, n);
}
template <class T>
T dot_16(const T* x, const T* y, std::size_t n) {
  return dot<T, 16>(x, y, n);
}

}  // namespace

template <class T>
Loops<T> native_loops() {
  const std::size_t bytes = host_vector_bytes();
  if (bytes == 64) return {largest_64<T>, eliminate_64<T>, subtract_64<T>, dot_64<T>};
  if (bytes == 32) return {largest_32<T>, eliminate_32<T>, subtract_32<T>, dot_32<T>};
  return {largest_16<T>, eliminate_16<T>, subtract_16<T>, dot_16<T>};
}

template Loops<float> native_loops<float>();
template Loops<double> native_loops<double>();

}  // namespace plumb::hpl
