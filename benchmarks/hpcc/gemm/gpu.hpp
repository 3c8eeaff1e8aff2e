// The tuned form for GPUs: build options of gpu.cl for a problem.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "benchmarks/hpcc/gemm/problem.hpp"

namespace plumb::gemm {

// PTX architectures whose matrix instructions gpu.cl uses, best first. 0: plain arithmetic.
inline constexpr std::array unit_architectures{90, 80};

// Whether matrix units multiply such elements with the precision of the type.
bool has_matrix_units(const Element& element);

// Defined in gpu.cl.
struct GpuTiles {
  std::size_t items = 256;
  std::size_t rows = 128, columns = 128, depth = 16;  // ROWS, COLUMNS, DEPTH
  std::size_t warp_columns = 0;                       // WARP_COLUMNS, with matrix units
};

GpuTiles gpu_tiles(const Element& element, int architecture);
std::string gpu_options(const Problem& problem, int architecture);

}  // namespace plumb::gemm
