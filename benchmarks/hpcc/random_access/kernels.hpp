// RandomAccess's kernels in each form: build options, names and shares.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/hpcc/common/single_device.hpp"
#include "benchmarks/hpcc/random_access/stream.hpp"
#include "device/device.hpp"

namespace plumb::random_access {

// Methods of updating a word. buffered: read, xor, write, with updates read ahead: one of two overlapping updates is
// lost. atomic, atomic32: none is lost, by one 64-bit or two 32-bit atomic operations.
enum class Updates { buffered, atomic, atomic32 };

inline constexpr std::uint64_t most_look_ahead = 1024;  // HPCC's rule
inline constexpr std::uint64_t most_lanes = 32;

struct KernelForm {
  hpcc::Variant variant = hpcc::Variant::nd_range;
  Stream stream = Stream::polynomial;
  Updates updates = Updates::atomic;
  int log2_table = 0;
  std::uint64_t replications = 1;
  bool whole = true;             // one part is the whole table
  std::uint64_t look_ahead = 1;  // updates of one generator computed before the first of them is applied
  bool ivdep = false;            // single_work_item: reads may overtake writes
  int rng_count_log = 0;         // single_work_item
  int rng_distance = 1;
  bool fetch = false;            // nd_range: prefetch the words of a look-ahead, then update one by one
  std::uint64_t work_items = 1;  // nd_range: approximate number
  std::uint64_t group_size = 1;

  // Whether no update can be lost: atomics, or a pipeline in which each update ends before the next begins.
  bool exact() const;
  std::uint64_t lanes() const { return look_ahead < most_lanes ? look_ahead : most_lanes; }
};

// The updates of one rank, divided among the form's generators: work items, or a pipeline's.
Shares shares_of(const KernelForm& form, std::uint64_t updates);

// The compiler's options for values of --stream and --ivdep.
std::string stream_options(const std::string& stream);
std::string ivdep_options(const std::string& ivdep);

// Work items of a launch, in whole groups; those without a share do nothing.
KernelRange range_of(const KernelForm& form, const Shares& shares);

// OpenCL C and, for nd_range, the same as functions. Kernel arguments: table, starts, share, updates, first, words; and
// log2_table for single_work_item.
KernelSource source_of(const KernelForm& form);

// The kernel of a replication in a program. Throws Error if the program (a bitstream) was built with other options than
// the form's.
std::string kernel_name(const std::vector<std::string>& names, const KernelForm& form, std::uint64_t replication);

// nd_range.cl's kernel as a function, for runtime native.
std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels(const KernelForm& form);

}  // namespace plumb::random_access
