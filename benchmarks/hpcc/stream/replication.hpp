// One replication: its part of the three arrays in one memory bank, their images in pinned host memory, and the queue
// and kernels that use them, in each variant.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "benchmarks/hpcc/common/single_device.hpp"
#include "benchmarks/hpcc/stream/numbers.hpp"
#include "measure/slide.hpp"

namespace plumb::stream {

// Build and launch of kernels.
struct KernelForm {
  hpcc::Variant variant = hpcc::Variant::nd_range;
  ScalarType type = ScalarType::f32;
  std::uint64_t vector = 1;        // numbers
  std::uint64_t unroll = 1;        // vectors per cycle of a pipeline
  std::uint64_t local_buffer = 1;  // vectors
  std::uint64_t group_size = 1;    // work items
  std::uint64_t groups = 0;        // 0: one vector per work item
  std::uint64_t dot_groups = 1;
  bool own_runs = false;  // each work item takes a contiguous range of vectors
};

// The compiler's options for numbers of a type.
std::string type_options(const std::string& type);

// The variant's file for this form, with native_kernels() as functions for runtime native, where a vector is a cache
// line.
KernelSource source_of(const KernelForm& form);
std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels(ScalarType type);

// Data of an operation: a number of elements, processed in whole vectors. A guard that must not be written follows the
// last element that any operation writes.
struct Extent {
  std::uint64_t elements = 0, vector = 1;
  std::size_t element_bytes = 4;

  static constexpr std::size_t guard = 4096;  // bytes: a group of work items past the end stays within
  std::uint64_t vectors() const { return (elements + vector - 1) / vector; }
  std::size_t bytes() const { return elements * element_bytes; }
  std::size_t padded_bytes() const { return vectors() * vector * element_bytes; }
  // Of an array: room for all operations of the longest sample.
  std::size_t buffer_bytes(const Slide& slide) const { return slide.target_room(padded_bytes()) + guard; }
};

// Layout of arrays and of Dot's sums: for each operation its result, then the sums of groups, which the next operation
// overwrites.
struct Buffers {
  std::array<std::unique_ptr<Buffer>, 3> arrays;
  std::unique_ptr<Buffer> sums;
  Buffer* of(Array array) const { return arrays[static_cast<std::size_t>(array)].get(); }
};

// A kernel whose first arguments differ by operation.
struct Launch {
  struct Moving {
    Buffer* buffer;
    bool target;
  };

  std::unique_ptr<Kernel> kernel;
  KernelRange range;
  std::vector<Moving> moving;
};

// Kernels that execute an operation once, in sequence. `replication` selects calc_0, calc_1, … in a bitstream with a
// kernel for each. Throws Unsupported if the program lacks a kernel for the operation.
std::vector<Launch> launches(Program& program, const KernelForm& form, const Operation& operation,
                             const Buffers& buffers, std::uint64_t vectors, std::uint64_t replication,
                             std::uint64_t replications);

class Replication {
 public:
  Replication(Device& device, const Placement& memory, const KernelForm& form, const Extent& extent);
  Replication(const Replication&) = delete;
  Replication& operator=(const Replication&) = delete;

  // Prepares enqueue(); no kernels if the runtime's own copies execute the operation.
  void choose(const Operation& operation, std::vector<Launch> kernels);
  const Buffers& buffers() const { return buffers_; }
  const Extent& extent() const { return extent_; }

  // Untimed: writes the inputs of `count` operations, poisons the outputs.
  void reset(const Contents& contents, std::uint64_t count);
  // Executes the operation once, followed by `later` others of the sample.
  void enqueue(std::uint64_t later);
  void start() { queue_->finished(); }  // submits the commands, before waiting for another queue
  void finish() { queue_->finish(); }
  std::optional<DeviceTime> span() const { return queue_->span(); }
  // Compares every number left by `count` operations, and bytes that must not be written; adds to the findings.
  void check(const Contents& contents, std::uint64_t count, Validation& validation);

 private:
  std::byte* image(Array array) const { return images_[static_cast<std::size_t>(array)]->host_pointer(); }
  void place(const Launch& launch, std::uint64_t later) const;
  void warm_link(const Slide::Range& given, const Slide::Range& taken);
  void put(Array array, const Slide::Range& range, std::size_t more = 0) {
    queue_->write(image(array) + range.begin, {buffers_.of(array), range.begin, range.size + more});
  }
  std::uint64_t first_number(std::uint64_t later) const { return slide_.source(later) / extent_.element_bytes; }
  void check_array(Array array, const Contents& contents, Validation& validation);
  void check_rest(Array array, const Slide::Rest& rest, const Contents& contents, Validation& validation) const;
  void check_dot(const Contents& contents, Validation& validation);

  ScalarType type_;
  Extent extent_;
  Slide slide_;
  bool has_link_;
  Buffers buffers_;
  std::array<std::unique_ptr<Buffer>, 3> images_;
  std::unique_ptr<Queue> queue_;
  const Operation* operation_ = nullptr;
  std::size_t length_ = 0;   // bytes of each array per operation
  std::uint64_t count_ = 1;  // operations of the sample
  std::vector<Launch> kernels_;
};

}  // namespace plumb::stream
