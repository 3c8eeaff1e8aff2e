// Where the operations of a sample read and write, so that each of them is proven and not the last alone. From
// operation to operation the source moves up by a step and the destination by two, over somewhat larger arrays. So an
// operation leaves the begin of its result behind, which no later one overwrites, and what is there depends on which
// operation it was: an operation left out leaves poison or an earlier one's bytes, which are others. The last operation
// leaves its whole result, and always works at the same place.
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
  std::size_t source(std::uint64_t later) const { return (most - 1 - later) * step_; }
  std::size_t target(std::uint64_t later) const { return 2 * source(later); }

  // Of arrays from which, and into which, operations of `length` read and write.
  std::size_t source_room(std::size_t length) const { return source(0) + length; }
  std::size_t target_room(std::size_t length) const { return target(0) + length; }
  // What `count` operations read, or write.
  struct Range {
    std::size_t begin, size;
  };
  Range sources(std::size_t length, std::uint64_t count) const {
    return {source(count - 1), (count - 1) * step_ + length};
  }
  Range targets(std::size_t length, std::uint64_t count) const {
    return {target(count - 1), 2 * (count - 1) * step_ + length};
  }

  // What an operation leaves of its result: so many bytes from its begin on, which is at target(later).
  struct Rest {
    std::uint64_t later;
    std::size_t begin, size;
  };
  Rest rest(std::size_t length, std::uint64_t later) const {
    return {later, target(later), later == 0 ? length : std::min(length, 2 * step_)};
  }

  // left(Rest) and untouched(begin, size) for all runs of the destination from that of the first of `count` operations
  // up to byte `end`, in their order: what operations leave, and what none of them writes.
  template <class Left, class Untouched>
  void each_run(std::size_t length, std::uint64_t count, std::size_t end, Left left, Untouched untouched) const {
    for (std::uint64_t later = count; later-- > 0;) {
      const Rest rest = this->rest(length, later);
      left(rest);
      const std::size_t behind = rest.begin + rest.size, next = later > 0 ? target(later - 1) : end;
      if (next > behind) untouched(behind, next - behind);
    }
  }

 private:
  std::size_t step_;
};

}  // namespace plumb
