#include "transport/sockets.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <sstream>

#include "core/error.hpp"

namespace plumb {

namespace {

constexpr int patience_ms = 10000;  // for a connection

struct Hello {
  std::uint64_t secret = 0, number = 0;
};

[[noreturn]] void socket_failure(const std::string& user, const std::string& what) {
  throw Error(fmt::format("{} cannot {}: {}", user, what, std::strerror(errno)));
}

void at_once(int socket) {
  const int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace

bool is_ready(int file, short events, int timeout_ms) {
  pollfd entry{file, events, 0};
  return poll(&entry, 1, timeout_ms) > 0;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

std::string own_host_name() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0)
    throw Error(fmt::format("this host's name is unknown: {}", std::strerror(errno)));
  return host.data();
}

sockaddr_in resolved(const std::string& user, const std::string& host, const std::string& port, bool same_host) {
  addrinfo hints{}, *addresses = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  if (const int code = getaddrinfo(same_host ? "127.0.0.1" : host.c_str(), port.c_str(), &hints, &addresses); code != 0)
    throw Error(fmt::format("{} cannot resolve the host {}: {}", user, host, gai_strerror(code)));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(addresses, freeaddrinfo);
  sockaddr_in address{};
  std::memcpy(&address, addresses->ai_addr, sizeof address);
  return address;
}

ListeningSocket::ListeningSocket(std::string user, std::uint16_t port)
    : user_(std::move(user)), socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), secret_(std::random_device{}()) {
  secret_ = secret_ << 32 | std::random_device{}();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  auto* const general = reinterpret_cast<sockaddr*>(&address);
  const int yes = 1;  // connections of an ended run do not block the port
  setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (socket_.get() < 0 || bind(socket_.get(), general, size) != 0 || listen(socket_.get(), SOMAXCONN) != 0 ||
      getsockname(socket_.get(), general, &size) != 0)
    socket_failure(user_, port == 0 ? "wait for a neighbour on a port of this host"
                                    : fmt::format("wait for a neighbour on port {} of this host (--relay-port names "
                                                  "others, 0 takes any)",
                                                  port));
  port_ = ntohs(address.sin_port);
}

std::string ListeningSocket::offer() const {
  return fmt::format("{} {} {}", own_host_name(), port_, secret_);
}

std::vector<Descriptor> ListeningSocket::accepted(std::size_t number) const {
  std::vector<Descriptor> files(number);
  for (std::size_t found = 0; found < number;) {
    if (!is_ready(socket_.get(), POLLIN, patience_ms))
      throw Error(fmt::format("no neighbour came to port {} of {}", port_, user_));
    Descriptor file(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    Hello hello;
    if (file.get() < 0 || !is_ready(file.get(), POLLIN, patience_ms) ||
        recv(file.get(), &hello, sizeof hello, MSG_WAITALL) != sizeof hello || hello.secret != secret_ ||
        hello.number >= number || files[hello.number].get() >= 0)
      continue;  // an unrelated connection
    at_once(file.get());
    files[hello.number] = std::move(file);
    ++found;
  }
  return files;
}

Descriptor connected(const std::string& user, const std::string& offer, std::size_t number, bool same_host) {
  std::string host, port;
  Hello hello{0, number};
  std::istringstream(offer) >> host >> port >> hello.secret;
  const sockaddr_in address = resolved(user, host, port, same_host);
  Descriptor file(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (file.get() < 0 || connect(file.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      send(file.get(), &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello)
    socket_failure(user, fmt::format("reach port {} of {}", port, host));
  at_once(file.get());
  return file;
}

}  // namespace plumb
