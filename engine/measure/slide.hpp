// Positions of a sample's operations, chosen so that each operation is proven, not only the last. From operation to
// operation the source advances by one step and the destination by two, over slightly larger arrays. So each operation
// leaves the beginning of its result, which no later one overwrites and which depends on the operation's number: an
// omitted operation leaves poison or different bytes. The last operation leaves its whole result, always at the same
// position.
//
// Operations are numbered by how many of the sample follow: 0 is the last. Offsets and lengths are in bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "device/device.hpp"

namespace plumb {

class Slide {
 public:
  // Limit of operations per sample. The effect on caches is small: each operation touches three steps of new memory.
  static constexpr std::uint64_t most = 1024;
  // For estimates of memory before a device is selected.
  static constexpr std::size_t usual_step = 512;

  // The step, in bytes: a multiple of every element size.
  explicit Slide(std::size_t step = usual_step) : step_(step) {}
  explicit Slide(const DeviceInfo& device) : step_(device.view_alignment) {}

  std::size_t step() const { return step_; }
  std::size_t source(std::uint64_t later) const { return (most - 1 - later) * step_; }
  std::size_t target(std::uint64_t later) const { return 2 * source(later); }

  // Lengths of source and destination arrays for operations of `length`.
  std::size_t source_room(std::size_t length) const { return source(0) + length; }
  std::size_t target_room(std::size_t length) const { return target(0) + length; }
  // Bytes read, or written, by `count` operations.
  struct Range {
    std::size_t begin, size;
  };
  Range sources(std::size_t length, std::uint64_t count) const {
    return {source(count - 1), (count - 1) * step_ + length};
  }
  Range targets(std::size_t length, std::uint64_t count) const {
    return {target(count - 1), 2 * (count - 1) * step_ + length};
  }

  // The remaining part of an operation's result: `size` bytes from target(later) on.
  struct Rest {
    std::uint64_t later;
    std::size_t begin, size;
  };
  Rest rest(std::size_t length, std::uint64_t later) const {
    return {later, target(later), later == 0 ? length : std::min(length, 2 * step_)};
  }

  // Calls left(Rest) and untouched(begin, size) in order of position, from the first of `count` operations up to byte
  // `end` of the destination: remaining results, and bytes that no operation writes.
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
