// Common code of benchmarks of one device (STREAM, RandomAccess, FFT, GEMM): forms of kernels, and metrics of ranks
// that work independently at the same time (HPCC's "star" or embarrassingly parallel).
#pragma once

#include <string>
#include <vector>

#include "core/scalar.hpp"
#include "measure/benchmark.hpp"

namespace plumb::hpcc {

// single_work_item: HPCC FPGA's form, pipelines for an FPGA. nd_range: many work items, for GPUs and CPUs; functions on
// runtime `native`. library: an optimised library.
enum class Variant { single_work_item, nd_range, library };

std::string to_string(Variant variant);

// Option --variant.
class VariantChoice : public Choice {
 public:
  explicit VariantChoice(Parameters& owner);
  // "default" selects single_work_item on an accelerator (an FPGA), otherwise nd_range.
  Variant on(const DeviceInfo& device) const;
};

// Throws Unsupported if the device does not support `type`.
void require_type(const DeviceInfo& device, ScalarType type);

// Metrics of a case in which each rank handles `amount` (bytes, flops, updates) per count: `name` in `unit` (value =
// amount / scale / s) for all ranks together, by the slowest rank's time of the best repetition; with several ranks
// also `name`_per_rank (mean of each rank's own best) and `name`_slowest_rank (the minimum of these; the convention
// names the rank).
std::vector<Metric> parallel_metrics(const std::string& name, const std::string& unit, double scale, double amount,
                                     const CaseResult& result, int ranks);

}  // namespace plumb::hpcc
