// nd_range.cl's kernels for runtime `native`: each core of this process computes a range of lines of the result.
#include <algorithm>

#include "benchmarks/hpcc/stream/replication.hpp"
#include "device/native/halves.hpp"
#include "device/native/past_caches.hpp"

namespace plumb::stream {

namespace {

using Arguments = std::span<const KernelArgument>;
using Half = std::uint16_t;

// Computes in float for half, otherwise in the type itself.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
constexpr std::uint64_t of_a_line = cache_line / sizeof(T);  // numbers

// A line's numbers for computation, in place or in `space`.
template <class T>
const T* widen(const T* line, T*) {
  return line;
}
const float* widen(const Half* line, float* space) {
  widen_halves(line, space, of_a_line<Half>);
  return space;
}

template <class T>
void store(T* to, const T* line) {
  store_line(to, line);
}
void store(Half* to, const float* line) {
  alignas(cache_line) Half halves[of_a_line<Half>];
  narrow_to_halves(line, halves, of_a_line<Half>);
  store_line(to, halves);
}

// body(line) for each line of a range: both halves, a block of either in turn, as a core fetches two streams of an
// array faster than one.
template <class Body>
[[gnu::always_inline]] inline void for_each_line(std::uint64_t lines, Body body) {
  constexpr std::uint64_t block = 2;
  const std::uint64_t half = ((lines + 1) / 2 + block - 1) / block * block;
  for (std::uint64_t at = 0; at < half; at += block)
    for (std::uint64_t part = at; part < lines; part += half)
      for (std::uint64_t line = part; line < std::min(part + block, lines); ++line) body(line);
}

// A range of lines: to = rule(x, y). A separate function, as its parameters declare that the arrays do not overlap.
template <class T, class Rule>
void make_lines(T* __restrict to, const T* __restrict x, const T* __restrict y, std::uint64_t lines, Rule rule) {
  for_each_line(lines, [&](std::uint64_t line) {
    const std::uint64_t at = line * of_a_line<T>;
    alignas(cache_line) Wide<T> first[of_a_line<T>], second[of_a_line<T>], result[of_a_line<T>];
    const Wide<T>*a = widen(x + at, first), *b = widen(y + at, second);
    for (std::uint64_t i = 0; i < of_a_line<T>; ++i) result[i] = rule(a[i], b[i]);
    store(to + at, result);
  });
  finish_stores();
}

// Number of partial sums, so that no addition waits for the previous one.
template <class T>
Wide<T> add_up(const T* x, const T* y, std::uint64_t lines) {
  Wide<T> sums[of_a_line<T>] = {};
  for_each_line(lines, [&](std::uint64_t line) {
    const std::uint64_t at = line * of_a_line<T>;
    Wide<T> first[of_a_line<T>], second[of_a_line<T>];
    const Wide<T>*a = widen(x + at, first), *b = widen(y + at, second);
    for (std::uint64_t i = 0; i < of_a_line<T>; ++i) sums[i] += a[i] * b[i];
  });
  Wide<T> total = 0;
  for (const Wide<T> sum : sums) total += sum;
  return total;
}

// Calls call(first line, lines) on ranges distributed over the cores; returns the sum of the results.
template <class Call>
auto on_all_cores(std::uint64_t lines, Call call) {
  constexpr std::uint64_t pieces = 1024;
  decltype(call(lines, lines)) total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    const std::uint64_t begin = lines * piece / pieces;
    total += call(begin, lines * (piece + 1) / pieces - begin);
  }
  return total;
}

template <class T>
T* numbers(const KernelArgument& argument) {
  return reinterpret_cast<T*>(host_pointer(argument));
}

// Kernel arguments: inputs, output, scalar if any, number of vectors (here: lines).
template <class T, class Rule>
void each(Arguments arguments, bool two_inputs, Rule rule) {
  const T *x = numbers<const T>(arguments[0]), *y = two_inputs ? numbers<const T>(arguments[1]) : x;
  T* to = numbers<T>(arguments[two_inputs ? 2 : 1]);
  on_all_cores(std::get<std::uint64_t>(arguments.back()), [&](std::uint64_t begin, std::uint64_t lines) {
    const std::uint64_t at = begin * of_a_line<T>;
    make_lines(to + at, x + at, y + at, lines, rule);
    return 0;
  });
}

template <class T>
Wide<T> dot(Arguments arguments) {
  const T *x = numbers<const T>(arguments[0]), *y = numbers<const T>(arguments[1]);
  return on_all_cores(std::get<std::uint64_t>(arguments.back()), [&](std::uint64_t begin, std::uint64_t lines) {
    return add_up(x + begin * of_a_line<T>, y + begin * of_a_line<T>, lines);
  });
}

template <class T>
std::vector<std::pair<std::string, KernelSource::NativeKernel>> kernels_of() {
  using W = Wide<T>;
  const auto scalar = [](Arguments arguments) { return std::get<W>(arguments[arguments.size() - 2]); };
  return {
      {"copy", [](Arguments a, const KernelRange&) { each<T>(a, false, [](W x, W) { return x; }); }},
      {"scale", [=](Arguments a, const KernelRange&) { each<T>(a, false, [j = scalar(a)](W x, W) { return j * x; }); }},
      {"add", [](Arguments a, const KernelRange&) { each<T>(a, true, [](W x, W y) { return x + y; }); }},
      {"triad",
       [=](Arguments a, const KernelRange&) { each<T>(a, true, [j = scalar(a)](W x, W y) { return x + j * y; }); }},
      {"dot_of_groups",
       [](Arguments a, const KernelRange&) {
         numbers<W>(a[2])[1] = dot<T>(a);  // one group, whatever the range
       }},
      {"dot_of_all",
       [](Arguments a, const KernelRange&) {
         W* sums = numbers<W>(a[0]);
         sums[0] = sums[1];
       }},
  };
}

}  // namespace

std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels(ScalarType type) {
  switch (type) {
    case ScalarType::f16:
      return kernels_of<Half>();
    case ScalarType::f32:
      return kernels_of<float>();
    default:
      return kernels_of<double>();
  }
}

}  // namespace plumb::stream
