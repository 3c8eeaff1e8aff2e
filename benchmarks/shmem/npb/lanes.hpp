// Vectors of doubles: W points or lines at a time, by the host's instruction set.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "device/host_simd.hpp"

// Every function with vectors, here and where this is included, is inlined into run_on_64, run_on_32 or run_on_16, so
// none is passed or returned.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace plumb::npb {

template <int W>
struct Lanes {
  using V [[gnu::vector_size(W * sizeof(double))]] = double;
  using Bits [[gnu::vector_size(W * sizeof(double))]] = std::int64_t;
};
template <int W>
using Vector = typename Lanes<W>::V;

template <class V>
constexpr int width = sizeof(V) / sizeof(double);
template <class V>
using BitsOf = typename Lanes<width<V>>::Bits;  // also of comparisons: -1 where true

// Reads the lanes from p, p + stride, …; those from `lanes` on repeat the last one. Stride 1 reads them all.
template <class V, bool contiguous>
[[gnu::always_inline]] inline V load(const double* p, std::ptrdiff_t stride = 1, int lanes = width<V>) {
  V v;
  if constexpr (contiguous) {
    std::memcpy(&v, p, sizeof v);
  } else {
#pragma GCC unroll 8
    for (int l = 0; l < width<V>; ++l) v[l] = p[(l < lanes ? l : lanes - 1) * stride];
  }
  return v;
}

// Writes the first `lanes` lanes.
template <class V, bool contiguous>
[[gnu::always_inline]] inline void store(const V& v, double* p, std::ptrdiff_t stride = 1, int lanes = width<V>) {
  if (contiguous && lanes == width<V>) {
    std::memcpy(p, &v, sizeof v);
  } else {
#pragma GCC unroll 8
    for (int l = 0; l < width<V>; ++l)
      if (l < lanes) p[l * stride] = v[l];
  }
}

template <class V>
[[gnu::always_inline]] inline V splat(double value) {
  return value - V{};
}

template <class V>
[[gnu::always_inline]] inline V root(const V& v) {
  V roots;
  square_roots(v, roots);
  return roots;
}

template <class Body>
PLUMBLINE_VECTORS_OF_64 void run_on_64(const Body& body) {
  body.template operator()<Vector<8>>();
}
template <class Body>
PLUMBLINE_VECTORS_OF_32 void run_on_32(const Body& body) {
  body.template operator()<Vector<4>>();
}
template <class Body>
void run_on_16(const Body& body) {
  body.template operator()<Vector<2>>();
}

inline int host_lanes() {
  static const int lanes = static_cast<int>(host_vector_bytes() / sizeof(double));
  return lanes;
}

// Calls body.operator()<V>() with the widest vectors of this host, as with_lanes([&]<class V> [[gnu::always_inline]] ()
// {...}); it must be inlined.
template <class Body>
void with_lanes(const Body& body) {
  switch (host_lanes()) {
    case 8:
      return run_on_64(body);
    case 4:
      return run_on_32(body);
    default:
      return run_on_16(body);
  }
}

}  // namespace plumb::npb
