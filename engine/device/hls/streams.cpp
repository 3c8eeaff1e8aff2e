#include "device/hls/streams.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

#include "core/error.hpp"
#include "core/patience.hpp"
#include "core/seconds.hpp"

namespace plumb::hls {

namespace {

// Base of both kinds: waiting, within the limit.
class WaitingFifo : public plumb_hls::Fifo {
 public:
  WaitingFifo(std::string name, std::size_t element_bytes, Failed failed)
      : name_(std::move(name)), element_bytes_(element_bytes), failed_(std::move(failed)) {}

  void write(const void* element) override {
    wait([&] { return try_write(element); }, false);
  }
  void read(void* element) override {
    wait([&] { return try_read(element); }, true);
  }

 protected:
  // Sleeps until an element can probably be read (or written), at most some milliseconds.
  virtual void sleep(bool reads) = 0;

  const std::string name_;
  const std::size_t element_bytes_;

 private:
  template <class Try>
  void wait(Try attempt, bool reads) {
    for (int looks = 0; looks < looks_before_sleep; ++looks)
      if (attempt()) return;
    for (const double begin = now_seconds(); !attempt(); sleep(reads)) {
      const char* state = reads ? "empty" : "full";
      if (failed_->load(std::memory_order_relaxed))
        throw Error(fmt::format("stream {} stayed {}, as another kernel had failed", name_, state));
      if (now_seconds() - begin > kernel_patience_s)
        throw Error(fmt::format("a kernel waited {:.3g} s to {} stream {}, which stayed {} (limit: half of --timeout)",
                                kernel_patience_s.load(), reads ? "read from" : "write to", name_, state));
    }
  }

  static constexpr int looks_before_sleep = 100;
  Failed failed_;
};

// A sleeping side is woken when half of the places are of use to it, and looks by itself now and then, for the last
// elements: where kernels are more than cores, a switch between them for each element would take most of the time.
class RingFifo final : public WaitingFifo {
 public:
  RingFifo(const std::string& name, std::size_t element_bytes, std::size_t capacity, Failed failed)
      : WaitingFifo(name, element_bytes, std::move(failed)), places_(capacity + 1), bytes_(places_ * element_bytes) {}

  bool try_write(const void* element) override {
    const std::size_t end = end_.load(std::memory_order_relaxed), next = after(end);
    if (next == begin_.load(std::memory_order_acquire)) return false;
    std::memcpy(&bytes_[end * element_bytes_], element, element_bytes_);
    end_.store(next, std::memory_order_release);
    if (sleeps_[reader] && size() >= places_ / 2) wake();
    return true;
  }
  bool try_read(void* element) override {
    const std::size_t begin = begin_.load(std::memory_order_relaxed);
    if (begin == end_.load(std::memory_order_acquire)) return false;
    std::memcpy(element, &bytes_[begin * element_bytes_], element_bytes_);
    begin_.store(after(begin), std::memory_order_release);
    if (sleeps_[writer] && size() <= (places_ - 1) / 2) wake();
    return true;
  }
  std::size_t size() override {
    const std::size_t begin = begin_.load(std::memory_order_acquire), end = end_.load(std::memory_order_acquire);
    return (end + places_ - begin) % places_;
  }
  std::size_t capacity() override { return places_ - 1; }

 private:
  static constexpr int writer = 0, reader = 1;

  void sleep(bool reads) override {
    std::unique_lock lock(mutex_);
    sleeps_[reads ? reader : writer] = true;
    changed_.wait_for(lock, std::chrono::milliseconds(1));
    sleeps_[reads ? reader : writer] = false;
  }
  void wake() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  std::size_t after(std::size_t place) const { return place + 1 == places_ ? 0 : place + 1; }

  const std::size_t places_;  // one of them is always empty
  std::vector<std::byte> bytes_;
  std::atomic<std::size_t> begin_{0}, end_{0};
  std::array<std::atomic<bool>, 2> sleeps_{};
  std::mutex mutex_;
  std::condition_variable changed_;
};

class PipeFifo final : public WaitingFifo {
 public:
  PipeFifo(const std::string& name, std::size_t element_bytes, const std::string& file, Failed failed)
      : WaitingFifo(name, element_bytes, std::move(failed)) {
    if (element_bytes > PIPE_BUF)
      throw Error(fmt::format("stream {} has elements of {} bytes: a pipe takes at most {} at a time", name,
                              element_bytes, PIPE_BUF));
    // For both, so that opening does not wait and the other end is not seen to close.
    file_ = open(file.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (file_ < 0) throw Error(fmt::format("stream {} cannot open {}: {}", name, file, std::strerror(errno)));
  }
  ~PipeFifo() override { close(file_); }

  bool try_write(const void* element) override {
    const ssize_t written = ::write(file_, element, element_bytes_);
    if (written == static_cast<ssize_t>(element_bytes_)) return true;
    return again("write to");
  }
  bool try_read(void* element) override {
    if (size() == 0 && !fill()) return false;
    std::memcpy(element, ahead_.data() + taken_, element_bytes_);
    taken_ += element_bytes_;
    return true;
  }
  std::size_t size() override { return (filled_ - taken_) / element_bytes_; }
  std::size_t capacity() override { return SIZE_MAX; }

 private:
  void sleep(bool reads) override {
    constexpr int longest_ms = 10;
    pollfd file{file_, static_cast<short>(reads ? POLLIN : POLLOUT), 0};
    poll(&file, 1, longest_ms);
  }
  bool again(const char* action) const {
    if (errno == EAGAIN || errno == EINTR) return false;
    throw Error(fmt::format("could not {} stream {}: {}", action, name_, std::strerror(errno)));
  }
  // Reads what is there, at least one whole element.
  bool fill() {
    if (ahead_.empty()) ahead_.resize(std::max<std::size_t>(1, read_ahead / element_bytes_) * element_bytes_);
    if (taken_ > 0) {
      std::copy(ahead_.begin() + static_cast<std::ptrdiff_t>(taken_),
                ahead_.begin() + static_cast<std::ptrdiff_t>(filled_), ahead_.begin());
      filled_ -= taken_;
      taken_ = 0;
    }
    const ssize_t bytes = ::read(file_, ahead_.data() + filled_, ahead_.size() - filled_);
    if (bytes < 0) return again("read from");
    filled_ += static_cast<std::size_t>(bytes);
    return size() > 0;
  }

  static constexpr std::size_t read_ahead = 65536;  // bytes

  int file_ = -1;
  std::vector<std::byte> ahead_;
  std::size_t taken_ = 0, filled_ = 0;  // of `ahead_`
};

}  // namespace

std::unique_ptr<plumb_hls::Fifo> make_fifo(const std::string& name, std::size_t element_bytes, std::size_t capacity,
                                           Failed failed) {
  return std::make_unique<RingFifo>(name, element_bytes, capacity, std::move(failed));
}

std::unique_ptr<plumb_hls::Fifo> make_pipe_fifo(const std::string& name, std::size_t element_bytes,
                                                const std::string& file, Failed failed) {
  return std::make_unique<PipeFifo>(name, element_bytes, file, std::move(failed));
}

}  // namespace plumb::hls
