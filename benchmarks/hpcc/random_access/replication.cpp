#include "benchmarks/hpcc/random_access/replication.hpp"

#include <algorithm>

namespace plumb::random_access {

Replication::Replication(Device& device, const Placement& memory, const TableRange& part,
                         std::span<const std::uint64_t> starts)
    : part_(part),
      table_(device.allocate(part.words * word_bytes, memory)),
      starts_(device.allocate(starts.size_bytes(), memory)),
      queue_(device.make_queue(true)) {
  queue_->write(std::as_bytes(starts).data(), whole(*starts_));
}

void Replication::choose(std::unique_ptr<Kernel> kernel, const KernelRange& range, const Shares& shares,
                         std::uint64_t updates, std::optional<int> log2_table) {
  kernel_ = std::move(kernel);
  range_ = range;
  std::vector<KernelArgument> arguments{table_.get(), starts_.get(), shares.length, updates, part_.first, part_.words};
  if (log2_table) arguments.emplace_back(static_cast<std::uint32_t>(*log2_table));
  kernel_->set(arguments);
}

void Replication::reset(std::uint64_t content, Buffer& staging) {
  auto* words = reinterpret_cast<std::uint64_t*>(staging.host_pointer());
  const std::uint64_t most = staging.size() / word_bytes;
  for (std::uint64_t begin = 0; begin < part_.words; begin += most) {
    const std::uint64_t count = std::min(most, part_.words - begin);
    const std::uint64_t first = content + part_.first + begin;
#pragma omp parallel for
    for (std::uint64_t i = 0; i < count; ++i) words[i] = first + i;
    queue_->write(staging.host_pointer(), {table_.get(), begin * word_bytes, count * word_bytes});
  }
}

void Replication::read(std::span<std::uint64_t> words) {
  queue_->read(whole(*table_), reinterpret_cast<std::byte*>(words.data()));
}

}  // namespace plumb::random_access
