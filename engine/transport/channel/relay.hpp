// A link between two hosts: at each end, threads pass bytes between the link's pipes and a TCP connection each. Kernels
// see pipes, as on one host.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "transport/channel/channel.hpp"

namespace plumb::channel {

// An open file or socket.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

// The receiver's end, which listens on a port of every address of this host; port 0 is any free port. Throws Error
// naming a port in use.
class Listener {
 public:
  explicit Listener(std::uint16_t port);
  // "HOST PORT SECRET", for connected().
  std::string offer() const;
  // One connection per channel; throws Error if the sender does not connect in time.
  std::vector<Descriptor> accepted() const;

 private:
  Descriptor socket_;
  std::uint16_t port_ = 0;
  std::uint64_t secret_ = 0;
};
// The sender's end; throws Error naming host and port.
std::vector<Descriptor> connected(const std::string& offer, bool same_host);

// Passes bytes from one to the other until destroyed or until one of them closes.
class Relay {
 public:
  // The connection is owned, the pipe is not.
  Relay(int pipe, Descriptor connection, bool outgoing);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

 private:
  Descriptor connection_;
  std::jthread thread_;
};

}  // namespace plumb::channel
