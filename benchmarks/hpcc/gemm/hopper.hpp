// The form for GPUs of compute capability 9.0 (Hopper): how hopper.cu is compiled and started for a problem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "benchmarks/hpcc/gemm/problem.hpp"

namespace plumb::gemm {

// Of the product; hopper.cu says more.
struct HopperTiles {
  std::size_t rows = 128, columns = 128, depth = 16;
  std::size_t groups = 1;                           // that compute a tile together
  std::size_t a_copy_rows = 128, b_copy_rows = 16;  // of a copy to local memory
  std::size_t stages = 4;
  std::size_t local_bytes = 0;  // of a group
  std::size_t count = 0;
};

// Tiles as large as registers allow, or so much smaller that the multiprocessors' last round of tiles is fuller.
HopperTiles hopper_tiles(const Problem& problem, unsigned multiprocessors);
std::string hopper_options(const Problem& problem, const HopperTiles& tiles);

// Bytes from row to row of a matrix as the copy engine takes it: the row's own, or more where it must be repacked.
std::size_t hopper_row_bytes(std::size_t own_bytes);

}  // namespace plumb::gemm
