// STREAM's kernels in each variant, and what starts one operation.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "benchmarks/hpcc/common/single_device.hpp"
#include "benchmarks/hpcc/stream/operations.hpp"
#include "core/scalar.hpp"
#include "device/device.hpp"

namespace plumb::stream {

// How kernels are built and started.
struct Form {
  hpcc::Variant variant = hpcc::Variant::nd_range;
  ScalarType type = ScalarType::f32;
  std::uint64_t vector = 1;        // numbers
  std::uint64_t unroll = 1;        // vectors a cycle of a pipeline
  std::uint64_t local_buffer = 1;  // vectors
  std::uint64_t group_size = 1;    // work items
  std::uint64_t groups = 0;        // 0: one vector for each work item
  std::uint64_t dot_groups = 1;
  bool own_runs = false;  // each work item takes a run of vectors of its own
};

// The file of the variant, for this form.
KernelSource source_of(const Form& form);

// The buffers of one replication: arrays of whole vectors, and Dot's sums, of which the first is the result.
struct Buffers {
  std::array<std::unique_ptr<Buffer>, 3> arrays;
  std::unique_ptr<Buffer> sums;
  const Buffer& of(Array array) const { return *arrays[static_cast<std::size_t>(array)]; }
};

struct Launch {
  std::unique_ptr<Kernel> kernel;
  KernelRange range;
};

// Kernels that, one after the other, do an operation once. `replication` of so many picks calc_0, calc_1, … where a
// bitstream has a kernel for each. Throws Unsupported where the program has no kernel for the operation.
std::vector<Launch> launches(Program& program, const Form& form, const Operation& operation, const Buffers& buffers,
                             std::uint64_t vectors, std::uint64_t replication, std::uint64_t replications);

// nd_range.cl's kernels as functions, for runtime native; there a vector is a line of the caches.
std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels(ScalarType type);

}  // namespace plumb::stream
