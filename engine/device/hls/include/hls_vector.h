// hls::vector for C simulation: N numbers with arithmetic by element, aligned as in Vitis HLS to the largest power of
// two that divides its bytes.
#pragma once

#include <stddef.h>

namespace hls {

template <class T, size_t N>
class alignas((sizeof(T) * N) & ~(sizeof(T) * N - 1)) vector {
 public:
  vector() = default;
  vector(const T& value) {
    for (size_t i = 0; i < N; ++i) elements_[i] = value;
  }

  T& operator[](size_t i) { return elements_[i]; }
  const T& operator[](size_t i) const { return elements_[i]; }

#define PLUMB_HLS_BY_ELEMENT(op)                                             \
  vector& operator op##=(const vector& other) {                              \
    for (size_t i = 0; i < N; ++i) elements_[i] op##= other.elements_[i];    \
    return *this;                                                            \
  }                                                                          \
  friend vector operator op(vector left, const vector& right) { return left op##= right; }
  PLUMB_HLS_BY_ELEMENT(+)
  PLUMB_HLS_BY_ELEMENT(-)
  PLUMB_HLS_BY_ELEMENT(*)
  PLUMB_HLS_BY_ELEMENT(/)
#undef PLUMB_HLS_BY_ELEMENT

 private:
  T elements_[N];
};

}  // namespace hls
