// Host memory shared by processes of one host: an unnamed file (memfd), freed when its last user closes it or ends.
#pragma once

#include <cstddef>
#include <string>

namespace plumb {

class HostSegment {
 public:
  // Allocates `size` bytes, zeroed and resident. Throws Error if memory is exhausted.
  explicit HostSegment(std::size_t size);
  // Opens a segment of a running process (or of this one). Throws Error if it is not accessible.
  explicit HostSegment(const std::string& handle);
  ~HostSegment();
  HostSegment(const HostSegment&) = delete;
  HostSegment& operator=(const HostSegment&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::string handle() const;  // "process:file:size"

 private:
  void map();

  int file_ = -1;
  std::size_t size_ = 0;  // bytes, a multiple of a page
  std::byte* data_ = nullptr;
};

}  // namespace plumb
