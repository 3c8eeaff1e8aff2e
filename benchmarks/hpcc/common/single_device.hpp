// What the benchmarks of one device share (STREAM, RandomAccess, FFT, GEMM): forms of their kernels, and metrics of
// ranks that work each for itself, all at once (HPCC calls this "star" or embarrassingly parallel).
#pragma once

#include <string>
#include <vector>

#include "core/scalar.hpp"
#include "measure/benchmark.hpp"

namespace plumb::hpcc {

// single_work_item: HPCC FPGA's form, pipelines for an FPGA. nd_range: many work items, for GPUs and CPUs; on runtime
// `native` its functions. library: a well-kept library's.
enum class Variant { single_work_item, nd_range, library };

std::string to_string(Variant variant);

// Option --variant.
class VariantChoice : public Choice {
 public:
  explicit VariantChoice(Parameters& owner);
  // "default" is single_work_item on an accelerator (an FPGA), nd_range elsewhere.
  Variant on(const DeviceInfo& device) const;
};

// Throws Unsupported where the device does not compute in `type`.
void require_type(const DeviceInfo& device, ScalarType type);

// Metrics of a case in which each rank handles `amount` (bytes, flops, updates) a count: `name` in `unit` (value =
// amount / scale / s) for all ranks together, counted by the slowest rank's time of the best repetition; with several
// ranks also `name`_per_rank (the mean of what each reaches by its own best time) and `name`_slowest_rank (the lowest
// of these; the convention names the rank).
std::vector<Metric> parallel_metrics(const std::string& name, const std::string& unit, double scale, double amount,
                                     const CaseResult& result, int ranks);

}  // namespace plumb::hpcc
