// turn.cl as functions on the process's cores.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "benchmarks/hpcc/mpi_fft/turn.hpp"

namespace plumb::mpi_fft {

namespace {

std::uint64_t count_at(std::span<const KernelArgument> arguments, std::size_t index) {
  return std::get<std::uint64_t>(arguments[index]);
}

template <class T>
void turn(std::span<const KernelArgument> arguments, const KernelRange&) {
  const auto* from = reinterpret_cast<const T*>(host_pointer(arguments[0])) + 2 * count_at(arguments, 1);
  auto* to = reinterpret_cast<T*>(host_pointer(arguments[2]));
  const std::uint64_t rows = count_at(arguments, 3), columns = count_at(arguments, 4),
                      first_row = count_at(arguments, 5), points = count_at(arguments, 6);
  constexpr std::uint64_t side = 16;
#pragma omp parallel for schedule(static) collapse(2)
  for (std::uint64_t left = 0; left < columns; left += side)
    for (std::uint64_t top = 0; top < rows; top += side)
      for (std::uint64_t j = left; j < std::min(columns, left + side); ++j)
        for (std::uint64_t i = top; i < std::min(rows, top + side); ++i) {
          T x = from[2 * (i * columns + j)], y = from[2 * (i * columns + j) + 1];
          if (points != 0) {
            const auto step = static_cast<double>((first_row + i) * j % points);
            const double angle = -2 * std::numbers::pi * (step / static_cast<double>(points));
            const T c = static_cast<T>(std::cos(angle)), s = static_cast<T>(std::sin(angle)), product = x * c - y * s;
            y = x * s + y * c;
            x = product;
          }
          to[2 * (j * rows + i)] = x;
          to[2 * (j * rows + i) + 1] = y;
        }
}

template <class T>
void join(std::span<const KernelArgument> arguments, const KernelRange&) {
  const auto* from = reinterpret_cast<const T*>(host_pointer(arguments[0]));
  auto* to = reinterpret_cast<T*>(host_pointer(arguments[1])) + 2 * count_at(arguments, 2);
  const std::uint64_t rows = count_at(arguments, 3), columns = count_at(arguments, 4), parts = count_at(arguments, 5);
#pragma omp parallel for schedule(static)
  for (std::uint64_t row = 0; row < rows; ++row)
    for (std::uint64_t part = 0; part < parts; ++part)
      std::copy_n(from + 2 * (part * rows + row) * columns, 2 * columns, to + 2 * (row * parts + part) * columns);
}

}  // namespace

std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels(ScalarType type) {
  if (type == ScalarType::f32) return {{"turn", turn<float>}, {"join", join<float>}};
  return {{"turn", turn<double>}, {"join", join<double>}};
}

}  // namespace plumb::mpi_fft
