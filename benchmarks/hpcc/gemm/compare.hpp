// The product that a device left, held against the reference, element by element.
#pragma once

#include <span>

#include "benchmarks/hpcc/gemm/bound.hpp"
#include "benchmarks/hpcc/gemm/problem.hpp"
#include "benchmarks/hpcc/gemm/reference.hpp"
#include "measure/benchmark.hpp"

namespace plumb::gemm {

struct Comparison {
  Validation validation;     // its error is the largest |C - C'| / bound, its tolerance 1
  double largest_error = 0;  // |C - C'|, HPCC FPGA's residual
};

Comparison compare(const Problem& problem, const Rounding& rounding, const Reference& reference,
                   std::span<const std::byte> product);

}  // namespace plumb::gemm
