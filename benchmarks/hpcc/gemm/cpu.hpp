// The tuned form for CPUs: division of the product into packed tiles, for cpu.cl and its native counterpart.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/hpcc/gemm/problem.hpp"
#include "device/device.hpp"

namespace plumb::gemm {

// Defined in cpu.cl.
struct CpuTiles {
  std::size_t width = 0;              // WIDTH
  std::size_t rows = 0, columns = 0;  // TILE_ROWS, TILE_COLUMNS
  std::size_t depth = 0;              // DEPTH
  std::size_t band = 0, strip = 0;    // BAND, STRIP
  std::size_t row_tiles = 0, column_tiles = 0, depths = 0;

  std::size_t packed_a_items() const { return depths * row_tiles * rows * depth; }
  std::size_t packed_b_items() const { return depths * column_tiles * columns * depth; }
  std::size_t groups() const { return (row_tiles + band - 1) / band * ((column_tiles + strip - 1) / strip); }
};

inline constexpr std::size_t packed_rows = 8;  // PACKED_ROWS; divides every depth

// For vector registers of that many bytes.
CpuTiles cpu_tiles(const Problem& problem, std::size_t vector_bytes);
// Definitions that cpu.cl is compiled with.
std::string cpu_options(const Element& element, const CpuTiles& tiles);

// cpu.cl's kernels as functions on all cores of the process.
std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels(const Problem& problem,
                                                                               const CpuTiles& tiles);

}  // namespace plumb::gemm
