#include "transport/channel/relay.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <sstream>

namespace plumb::channel {

namespace {

constexpr int patience_ms = 10000;  // for a connection
constexpr int look_ms = 100;        // between two checks for the relay's end

struct Hello {
  std::uint64_t secret = 0, channel = 0;
};

[[noreturn]] void fail(const std::string& what) {
  throw Error(fmt::format("the relay of transport channel cannot {}: {}", what, std::strerror(errno)));
}

bool ready(int file, short events, int timeout_ms) {
  pollfd entry{file, events, 0};
  return poll(&entry, 1, timeout_ms) > 0;
}

void at_once(int socket) {
  const int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

bool write_all(int file, const char* bytes, std::size_t size, const std::stop_token& stop) {
  for (int late = 0; size > 0;) {
    if (!ready(file, POLLOUT, look_ms)) {
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
    if (!ready(from, POLLIN, look_ms)) {
      if (stop.stop_requested()) return;
      continue;
    }
    const ssize_t size = read(from, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0 || !write_all(to, bytes.data(), static_cast<std::size_t>(size), stop)) return;
  }
}

Descriptor connect_to(const addrinfo* addresses) {
  for (const addrinfo* one = addresses; one != nullptr; one = one->ai_next) {
    Descriptor file(socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (file.get() >= 0 && connect(file.get(), one->ai_addr, one->ai_addrlen) == 0) return file;
  }
  return Descriptor();
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Listener::Listener(std::uint16_t port)
    : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), secret_(std::random_device{}()) {
  secret_ = secret_ << 32 | std::random_device{}();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  auto* const general = reinterpret_cast<sockaddr*>(&address);
  const int yes = 1;  // connections of an ended run do not block the port
  setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (socket_.get() < 0 || bind(socket_.get(), general, size) != 0 || listen(socket_.get(), 8) != 0 ||
      getsockname(socket_.get(), general, &size) != 0)
    fail(port == 0
             ? "wait for a neighbour on a port of this host"
             : fmt::format("wait for a neighbour on port {} of this host (--relay-port names others, 0 takes any)",
                           port));
  port_ = ntohs(address.sin_port);
}

std::string Listener::offer() const {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) fail("tell this host's name");
  return fmt::format("{} {} {}", host.data(), port_, secret_);
}

std::vector<Descriptor> Listener::accepted() const {
  std::array<int, channels_of_link> files{};
  files.fill(-1);
  for (std::size_t found = 0; found < channels_of_link;) {
    if (!ready(socket_.get(), POLLIN, patience_ms))
      throw Error(fmt::format("no neighbour came to port {} of the relay of transport channel", port_));
    Descriptor file(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    Hello hello;
    if (file.get() < 0 || !ready(file.get(), POLLIN, patience_ms) ||
        recv(file.get(), &hello, sizeof hello, MSG_WAITALL) != sizeof hello || hello.secret != secret_ ||
        hello.channel >= channels_of_link || files[hello.channel] >= 0)
      continue;  // an unrelated connection
    at_once(file.get());
    files[hello.channel] = dup(file.get());
    ++found;
  }
  std::vector<Descriptor> list;
  for (const int file : files) list.emplace_back(file);
  return list;
}

std::vector<Descriptor> connected(const std::string& offer, bool same_host) {
  std::string host, port;
  Hello hello;
  std::istringstream(offer) >> host >> port >> hello.secret;
  if (same_host) host = "127.0.0.1";
  addrinfo hints{}, *addresses = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  if (const int code = getaddrinfo(host.c_str(), port.c_str(), &hints, &addresses); code != 0)
    throw Error(fmt::format("the relay of transport channel cannot resolve the host {}: {}", host, gai_strerror(code)));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(addresses, freeaddrinfo);
  std::vector<Descriptor> list;
  for (hello.channel = 0; hello.channel < channels_of_link; ++hello.channel) {
    list.push_back(connect_to(addresses));
    const int file = list.back().get();
    if (file < 0 || send(file, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello)
      fail(fmt::format("reach port {} of {}", port, host));
    at_once(file);
  }
  return list;
}

Relay::Relay(int pipe, Descriptor connection, bool outgoing)
    : connection_(std::move(connection)),
      thread_([from = outgoing ? pipe : connection_.get(),
               to = outgoing ? connection_.get() : pipe](const std::stop_token& stop) { pass_on(stop, from, to); }) {}

Relay::~Relay() {
  thread_.request_stop();
  thread_.join();
}

}  // namespace plumb::channel
