// The innermost loops of a panel and of the solves on runtime `native`, compiled for each width of vector registers.
#pragma once

#include <cstddef>

namespace plumb::hpl {

template <class T>
struct Loops {
  // The first index of the largest magnitude; n if all are NaN.
  std::size_t (*largest)(const T* x, std::size_t n);
  // l *= factor, and from each of `columns` columns behind it, `pitch` elements apart, l times its u.
  void (*eliminate)(T* l, std::size_t n, std::size_t pitch, T factor, std::size_t columns, const T* u);
  // y -= a x
  void (*subtract)(const T* x, T a, T* y, std::size_t n);
  T (*dot)(const T* x, const T* y, std::size_t n);
};

template <class T>
Loops<T> native_loops();

}  // namespace plumb::hpl
