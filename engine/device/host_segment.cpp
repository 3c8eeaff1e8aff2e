#include "device/host_segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/error.hpp"
#include "core/units.hpp"
#include "device/host_memory.hpp"

namespace plumb {

namespace {

std::string system_text() {
  return std::strerror(errno);
}

}  // namespace

HostSegment::HostSegment(std::size_t size) : size_((size + small_page - 1) / small_page * small_page) {
  file_ = memfd_create("plumbline", MFD_CLOEXEC);
  // Allocates all pages now: a missing page would end the process with SIGBUS at its first access.
  const int problem = file_ < 0 ? errno : posix_fallocate(file_, 0, static_cast<off_t>(size_));
  if (problem != 0) {
    if (file_ >= 0) close(file_);
    throw Error(fmt::format("could not allocate {} of memory to share between processes: {}", format_bytes(size_),
                            std::strerror(problem)));
  }
  map();
}

HostSegment::HostSegment(const std::string& handle) {
  int process = 0, file = 0;
  if (std::sscanf(handle.c_str(), "%d:%d:%zu", &process, &file, &size_) != 3)
    throw Error(fmt::format("invalid handle of shared memory '{}'", handle));
  const std::string path = fmt::format("/proc/{}/fd/{}", process, file);
  file_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file_ < 0)
    throw Error(
        fmt::format("could not open the memory that process {} shares ({}: {}): the ranks of a host must run "
                    "as one user and see each other's processes",
                    process, path, system_text()));
  map();
}

void HostSegment::map() {
  void* address = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (address == MAP_FAILED) {
    const std::string reason = system_text();
    close(file_);
    throw Error(fmt::format("could not map {} of shared memory: {}", format_bytes(size_), reason));
  }
  data_ = static_cast<std::byte*>(address);
  if (size_ >= huge_pages_from) madvise(data_, size_, MADV_HUGEPAGE);
}

HostSegment::~HostSegment() {
  munmap(data_, size_);
  close(file_);
}

std::string HostSegment::handle() const {
  return fmt::format("{}:{}:{}", getpid(), file_, size_);
}

}  // namespace plumb
