#include "transport/channel/relay.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "core/error.hpp"

namespace plumb::channel {

namespace {

constexpr int patience_ms = 10000;  // for the last bytes' way
constexpr int look_ms = 100;        // between two checks for the relay's end

bool write_all(int file, const char* bytes, std::size_t size, std::size_t most, const std::stop_token& stop) {
  for (int late = 0; size > 0;) {
    if (!is_ready(file, POLLOUT, look_ms)) {
      if (stop.stop_requested() && ++late * look_ms > patience_ms) return false;
      continue;
    }
    // The pipe is also open for reading here, so only room is awaited; poll guarantees room for PIPE_BUF bytes.
    const ssize_t written = write(file, bytes, std::min(size, most));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

void pass_on(const std::stop_token& stop, int from, int to, std::size_t most) {
  std::array<char, 65536> bytes{};
  for (;;) {
    // A kernel may end before its last bytes were read: they are passed on first.
    if (!is_ready(from, POLLIN, look_ms)) {
      if (stop.stop_requested()) return;
      continue;
    }
    const ssize_t size = read(from, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0 || !write_all(to, bytes.data(), static_cast<std::size_t>(size), most, stop)) return;
  }
}

}  // namespace

Relay::Relay(int pipe, Descriptor connection, bool outgoing, std::size_t frame)
    : connection_(std::move(connection)),
      thread_([from = outgoing ? pipe : connection_.get(), to = outgoing ? connection_.get() : pipe,
               frame](const std::stop_token& stop) { pass_on(stop, from, to, frame); }) {}

Relay::~Relay() {
  thread_.request_stop();
  thread_.join();
}

namespace {

[[noreturn]] void frame_failure(const char* what) {
  throw Error(fmt::format("{} cannot {}: {}", frame_user, what, std::strerror(errno)));
}

}  // namespace

Descriptor frame_receiver(std::string& name) {
  Descriptor made(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  socklen_t size = sizeof any;
  auto* const general = reinterpret_cast<sockaddr*>(&any);
  if (made.get() < 0 || bind(made.get(), general, size) != 0 || getsockname(made.get(), general, &size) != 0)
    frame_failure("open a port of this host");
  const int memory = 4 << 20;
  setsockopt(made.get(), SOL_SOCKET, SO_RCVBUF, &memory, sizeof memory);
  name = fmt::format("{} {}", own_host_name(), ntohs(any.sin_port));
  return made;
}

Descriptor frame_sender(const std::string& name, bool same_host, std::size_t frame) {
  constexpr int headers = 28;  // of IP and UDP
  std::string host, port;
  std::istringstream(name) >> host >> port;
  const sockaddr_in address = resolved(frame_user, host, port, same_host);
  Descriptor made(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (made.get() < 0 || connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    frame_failure("reach its neighbour");
  int mtu = 0;
  socklen_t size = sizeof mtu;
  if (getsockopt(made.get(), IPPROTO_IP, IP_MTU, &mtu, &size) == 0 && static_cast<int>(frame) + headers > mtu)
    throw UsageError(fmt::format("--vnx-frame {}: with {} bytes of headers it exceeds the {} bytes (MTU) of the route",
                                 frame, headers, mtu));
  return made;
}

}  // namespace plumb::channel
