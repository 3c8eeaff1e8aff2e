// The form for GPUs of compute capability 9.0 (Hopper): build and launch of hopper.cu for a problem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "benchmarks/hpcc/gemm/problem.hpp"

namespace plumb::gemm {

// Of the product; defined in hopper.cu.
struct HopperTiles {
  std::size_t rows = 128, columns = 128, depth = 16;
  std::size_t groups = 1;                           // per tile
  std::size_t a_copy_rows = 128, b_copy_rows = 16;  // of a copy to local memory
  std::size_t stages = 4;
  std::size_t local_bytes = 0;  // per group
  std::size_t count = 0;
};

// Tiles as large as registers allow, or smaller if that fills the multiprocessors' last round of tiles better.
HopperTiles hopper_tiles(const Problem& problem, unsigned multiprocessors);
std::string hopper_options(const Problem& problem, const HopperTiles& tiles);
// Elements of C that the kernel reads and writes at once, if its rows are aligned to them.
std::size_t hopper_together(const Element& element);

// Bytes between rows of a matrix for the copy engine: the row's own, or more if it must be repacked.
std::size_t hopper_row_bytes(std::size_t own_bytes);

}  // namespace plumb::gemm
