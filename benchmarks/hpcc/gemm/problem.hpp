// The product of one rank: out = alpha A B + beta C with A of rows x inner, B of inner x columns, C and out of rows x
// columns, all row-major and contiguous; and the content of A, B and C.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/data.hpp"
#include "core/scalar.hpp"

namespace plumb::gemm {

// An element type as in option --type. half and bfloat16 are stored in 16 bits and computed in float; tf32 is stored as
// float and multiplied by matrix units that keep 11 significant bits of each factor.
struct Element {
  std::string name;
  ScalarType stored = ScalarType::f32;
  ScalarType computed = ScalarType::f32;
  bool short_factors = false;  // tf32
};

Element element_of(const std::string& name);

struct Problem {
  Element element;
  std::size_t rows = 0, columns = 0, inner = 0;
  double alpha = 1, beta = 0;  // values of the element type
  // Distance of rows of C and out in elements, for parts of larger matrices; 0 = columns. For HPL's updates; supported
  // by native_kernels() (cpu.hpp) only.
  std::size_t c_pitch = 0;

  std::size_t a_items() const { return rows * inner; }
  std::size_t b_items() const { return inner * columns; }
  std::size_t c_items() const { return rows * columns; }
  std::size_t bytes(std::size_t items) const { return items * size_of(element.stored); }
  double flops() const;  // 2 rows columns inner, as in HPCC
};

// The nearest number of the type.
double rounded(double value, ScalarType type);

// Throws UsageError if alpha and beta give NaN or infinity, or hide alpha A B from validation.
void check_factors(const Problem& problem);

enum class Matrix : std::uint64_t { a, b, c };

// Elements of a matrix from `first` on: odd multiples of 2^-p between -1 and 1, p the significant bits of `stored` (so
// exact and never zero), each a hash of origin, matrix and index.
void fill(std::span<double> values, ScalarType stored, const Provenance& origin, Matrix matrix, std::size_t first = 0);

// values, exact in `stored`, as bytes.
std::vector<std::byte> bytes_of(std::span<const double> values, ScalarType stored);

}  // namespace plumb::gemm
