#include "transport/channel/relay.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace plumb::channel {

namespace {

constexpr int patience_ms = 10000;  // for the last bytes' way
constexpr int look_ms = 100;        // between two checks for the relay's end

bool write_all(int file, const char* bytes, std::size_t size, const std::stop_token& stop) {
  for (int late = 0; size > 0;) {
    if (!is_ready(file, POLLOUT, look_ms)) {
      if (stop.stop_requested() && ++late * look_ms > patience_ms) return false;
      continue;
    }
    // The pipe is also open for reading here, so only room is awaited; poll guarantees room for PIPE_BUF bytes.
    const ssize_t written = write(file, bytes, std::min<std::size_t>(size, 4096));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

void pass_on(const std::stop_token& stop, int from, int to) {
  std::array<char, 65536> bytes{};
  for (;;) {
    // A kernel may end before its last bytes were read: they are passed on first.
    if (!is_ready(from, POLLIN, look_ms)) {
      if (stop.stop_requested()) return;
      continue;
    }
    const ssize_t size = read(from, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0 || !write_all(to, bytes.data(), static_cast<std::size_t>(size), stop)) return;
  }
}

}  // namespace

Relay::Relay(int pipe, Descriptor connection, bool outgoing)
    : connection_(std::move(connection)),
      thread_([from = outgoing ? pipe : connection_.get(),
               to = outgoing ? connection_.get() : pipe](const std::stop_token& stop) { pass_on(stop, from, to); }) {}

Relay::~Relay() {
  thread_.request_stop();
  thread_.join();
}

}  // namespace plumb::channel
