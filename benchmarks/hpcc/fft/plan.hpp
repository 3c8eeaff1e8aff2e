// Division of a transform into steps for each form of the kernels, and the tables of roots that they read. Arithmetic
// only; the kernels' files define the steps. Throughout, w(k, n) = exp(-2 pi i k / n).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/scalar.hpp"

namespace plumb::fft {

inline constexpr int least_log = 3, most_log = 28;  // log2 of the points of a transform

// Roots of unity, (re, im) pairs, correctly rounded to double except for the last bit.
class Table {
 public:
  void add(std::uint64_t k, std::uint64_t n);  // w(k, n)
  std::size_t points() const { return values_.size() / 2; }
  const std::vector<double>& values() const { return values_; }
  // In an element type, as read by the kernels.
  std::vector<std::byte> bytes(ScalarType type) const;

 private:
  friend struct CpuPlan;
  std::vector<double> values_;
};

// length = 8^eights * last, where last is 2, 4, 8 or 16 (1 for length 1).
struct Factors {
  int length = 1, eights = 0, last = 1;
};
Factors factors_of(int log_length);

// cpu.cl: V lanes (of 32-byte vectors), M = points / V vectors as columns x rows; below V * V points, a transform per
// lane.
struct CpuPlan {
  CpuPlan(ScalarType type, int log_points);

  bool by_lanes() const { return by_lanes_; }
  bool has_columns() const { return columns.length > 1; }
  std::uint64_t vectors_of_work(bool with_middle) const;  // per group, re and im each 32 bytes
  std::uint64_t vectors_of_middle() const;                // of one transform between columns and rows
  Table table() const;

  ScalarType type;
  int lanes;  // V
  Factors columns, rows;

 private:
  bool by_lanes_;
};

inline constexpr std::size_t cpu_vector_bytes = 64;  // re and im

// The order of points in a vector's lanes: position i holds point lane_order(i, lanes); its own inverse.
int lane_order(int i, int lanes);

// One pass of gpu.cl.
struct GpuPass {
  enum class Kind { whole, columns, rows } kind = Kind::whole;
  int log_length = 0;  // points of a transform of this pass
  int log_points = 0;  // points per work item
  int log_tile = 0;    // transforms per group
  int log_stride = 0;  // columns: distance of points; rows: distance of results
  int log_first = 0;   // rows: points of the first pass
  std::vector<int> log_radices;
  bool split = false;   // exchanges re and im one after the other
  bool staged = false;  // reads and writes through local memory

  int log_items() const { return log_length - log_points; }        // work items per transform
  int group() const { return 1 << (log_items() + log_tile); }      // work items
  std::uint64_t groups(std::uint64_t batch, int log_total) const;  // for `batch` whole transforms
  std::uint64_t local_bytes(ScalarType type) const;                // of a group's points
  std::uint64_t padded_bytes(ScalarType type) const;               // and what separates banks, as in gpu.cl
  Table table() const;
  std::string options(ScalarType type, int log_total, bool inverse) const;
};

// Limits of a group on the device, which bound a pass.
struct GpuLimits {
  std::uint64_t local_bytes = 32768;  // for its points
  unsigned group = 256;               // work items
  std::uint64_t whole_bytes = 0;      // for a whole transform, if that is more
  std::uint64_t long_bytes = 0;       // for a pass of 512 points or more of a longer one, if that is more
};

// The passes, in order. unroll: points per work item (2 to 16), or 0 to choose by length.
std::vector<GpuPass> gpu_passes(ScalarType type, int log_points, int unroll, const GpuLimits& limits);

// The compiler's options for numbers of a type in single_work_item.cl.
std::string type_options(const std::string& type);

// single_work_item.cl: rows of `unroll` points; needs at least as many rows.
struct PipelinePlan {
  PipelinePlan(ScalarType type, int log_points, int unroll);

  std::uint64_t local_bytes() const;  // on-chip memory
  Table table() const;
  std::string options(int replication, bool channels) const;

  ScalarType type;
  int log_points, log_unroll, log_cycles;
};

}  // namespace plumb::fft
