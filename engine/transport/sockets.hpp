// TCP connections between ranks, for transports that use sockets themselves.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace plumb {

// An open file or socket.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  int get() const { return number_; }

 private:
  int number_;
};

// This host's name, for connected() and resolved() on another one.
std::string own_host_name();
// IPv4 address of a host's port; the loopback address for ranks of one host. `user` begins the message of an Error.
sockaddr_in resolved(const std::string& user, const std::string& host, const std::string& port, bool same_host);

// A rank's end that others connect to: a port of every address of this host; 0 is any free port. Throws Error naming a
// port in use. `user` begins messages: "the relay of transport channel".
class ListeningSocket {
 public:
  ListeningSocket(std::string user, std::uint16_t port);
  // "HOST PORT SECRET", for connected().
  std::string offer() const;
  // Connections 0 .. number - 1, by the number that connected() gave; throws Error if one does not come in time.
  std::vector<Descriptor> accepted(std::size_t number) const;

 private:
  std::string user_;
  Descriptor socket_;
  std::uint16_t port_ = 0;
  std::uint64_t secret_ = 0;
};
// The other end of one connection; throws Error naming host and port.
Descriptor connected(const std::string& user, const std::string& offer, std::size_t number, bool same_host);

// Returns whether a file is ready for events of poll() within a time.
bool is_ready(int file, short events, int timeout_ms);

}  // namespace plumb
