// Where the operations of a sample read and write, so that each of them is proven and not the last alone. From
// operation to operation the source moves down by a step and the destination by two, over somewhat larger arrays. So an
// operation leaves the end of its result behind, which no later one overwrites, and what is there depends on which
// operation it was: an operation left out leaves poison or an earlier one's bytes, which are others. The last operation
// leaves its whole result, at the begin of the array.
//
// Operations are told by how many of the same sample come after them: 0 is the last. Offsets and lengths are in bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "device/device.hpp"

namespace plumb {

class Slide {
 public:
  // Operations of a sample that arrays have room for. The caches hardly see it: between two operations three steps of
  // memory are new.
  static constexpr std::uint64_t most = 1024;
  // For estimates of memory before a device is known.
  static constexpr std::size_t usual_step = 512;

  // The step, in bytes: a multiple of every number's size.
  explicit Slide(std::size_t step = usual_step) : step_(step) {}
  explicit Slide(const DeviceInfo& device) : step_(device.view_alignment) {}

  std::size_t step() const { return step_; }
  std::size_t source(std::uint64_t later) const { return later * step_; }
  std::size_t target(std::uint64_t later) const { return 2 * later * step_; }

  // Bytes that `count` operations read, or write, of which each handles `length`; 0 of none.
  std::size_t source_bytes(std::size_t length, std::uint64_t count = most) const { return source(count - 1) + length; }
  std::size_t target_bytes(std::size_t length, std::uint64_t count = most) const { return target(count - 1) + length; }

  // What an operation leaves of its result: these bytes of the destination, which hold bytes begin - target(later) of
  // the result and those that follow.
  struct Rest {
    std::uint64_t later;
    std::size_t begin, size;
  };
  Rest rest(std::size_t length, std::uint64_t later) const {
    const std::size_t size = later == 0 ? length : std::min(length, 2 * step_);
    return {later, target(later) + length - size, size};
  }

  // left(Rest) and untouched(begin, size) for all runs of the first `bytes` bytes of the destination of `count`
  // operations, in their order: what operations leave, and what none of them writes.
  template <class Left, class Untouched>
  void each_run(std::size_t length, std::uint64_t count, std::size_t bytes, Left left, Untouched untouched) const {
    std::size_t end = 0;
    for (std::uint64_t later = 0; later < count; ++later) {
      const Rest rest = this->rest(length, later);
      if (rest.begin > end) untouched(end, rest.begin - end);
      left(rest);
      end = rest.begin + rest.size;
    }
    if (bytes > end) untouched(end, bytes - end);
  }

 private:
  std::size_t step_;
};

}  // namespace plumb
