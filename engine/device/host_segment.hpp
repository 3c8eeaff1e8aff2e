// Host memory that several processes of one host see: a file without a name (memfd), which goes when the last of them
// has closed it, however they end.
#pragma once

#include <cstddef>
#include <string>

namespace plumb {

class HostSegment {
 public:
  // Makes one of `size` bytes, all zero and all there. Throws Error when there is no memory for it.
  explicit HostSegment(std::size_t size);
  // Opens another process's (or this one's) while that lives. Throws Error when it cannot be seen from here.
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
