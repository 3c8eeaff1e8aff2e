// One replication of RandomAccess on a device: its part of the table, and the kernel that applies the rank's updates.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "benchmarks/hpcc/random_access/kernels.hpp"
#include "benchmarks/hpcc/random_access/table.hpp"

namespace plumb::random_access {

constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);

class Replication {
 public:
  // Allocates; `starts` are the words before the shares.
  Replication(Device& device, const Placement& memory, const TableRange& part, std::span<const std::uint64_t> starts);
  // Prepares `kernel` for all shares of `updates`. `log2_table`: the last argument of kernels that take the table's
  // size.
  void choose(std::unique_ptr<Kernel> kernel, const KernelRange& range, const Shares& shares, std::uint64_t updates,
              std::optional<int> log2_table);

  // Untimed: writes content + i to word i of the table, through `staging`, which is host memory.
  void reset(std::uint64_t content, Buffer& staging);
  void enqueue() { queue_->enqueue(*kernel_, range_); }
  void finish() { queue_->finish(); }
  std::optional<DeviceTime> span() const { return queue_->span(); }
  // Untimed: reads the part's words.
  void read(std::span<std::uint64_t> words);
  const TableRange& part() const { return part_; }

 private:
  TableRange part_;
  std::unique_ptr<Buffer> table_, starts_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Kernel> kernel_;
  KernelRange range_;
};

}  // namespace plumb::random_access
