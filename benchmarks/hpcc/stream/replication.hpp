// One replication: its part of the three arrays in one memory bank, their image in pinned host memory, and the queue
// that works on them.
#pragma once

#include <functional>
#include <optional>

#include "benchmarks/hpcc/stream/kernels.hpp"
#include "benchmarks/hpcc/stream/numbers.hpp"

namespace plumb::stream {

// An array of so many numbers in memory: filled up with zeros to whole vectors, then a guard that nobody may write.
struct Extent {
  std::uint64_t elements = 0, vector = 1;
  std::size_t element_bytes = 4;

  static constexpr std::size_t guard = 4096;  // bytes: a group of work items beyond the end stays within
  std::uint64_t vectors() const { return (elements + vector - 1) / vector; }
  std::size_t bytes() const { return elements * element_bytes; }
  std::size_t padded_bytes() const { return vectors() * vector * element_bytes; }
  std::size_t buffer_bytes() const { return padded_bytes() + guard; }
};

class Replication {
 public:
  Replication(Device& device, const Placement& memory, const Form& form, const Extent& extent);
  Replication(const Replication&) = delete;
  Replication& operator=(const Replication&) = delete;

  // What enqueue() shall start; no kernels where the runtime's own copies do it.
  void choose(const Operation& operation, std::vector<Launch> kernels);
  const Buffers& buffers() const { return buffers_; }
  const Extent& extent() const { return extent_; }

  // Untimed: inputs as `contents` says, every byte of the outputs wrong.
  void reset(const Contents& contents);
  void enqueue() { once_(); }           // the operation once
  void start() { queue_->finished(); }  // what was enqueued, before another queue is waited for
  void finish() { queue_->finish(); }
  std::optional<DeviceTime> span() const { return queue_->span(); }
  // Compares every number of the outputs, and their guards; adds what it finds.
  void check(const Contents& contents, Validation& validation);

 private:
  std::span<std::byte> image(Array array) const {
    Buffer& buffer = *images_[static_cast<std::size_t>(array)];
    return {buffer.host_pointer(), buffer.size()};
  }
  Buffer& buffer(Array array) const { return *buffers_.arrays[static_cast<std::size_t>(array)]; }
  BufferView numbers_of(Array array) const { return {&buffer(array), 0, extent_.bytes()}; }
  void fill_image(Array array, const Contents& contents) const;
  void poison_image(Array array) const;
  void check_array(Array array, const Contents& contents, Validation& validation);
  void check_dot(const Contents& contents, Validation& validation);

  ScalarType type_;
  Extent extent_;
  Buffers buffers_;
  std::array<std::unique_ptr<Buffer>, 3> images_;
  std::unique_ptr<Queue> queue_;
  const Operation* operation_ = nullptr;
  std::vector<Launch> kernels_;
  std::function<void()> once_;
};

}  // namespace plumb::stream
