// A link between two hosts: at each end, threads pass bytes between the link's pipes and a TCP connection each. Kernels
// see pipes, as on one host.
#pragma once

#include <thread>

#include "transport/channel/channel.hpp"
#include "transport/sockets.hpp"

namespace plumb::channel {

constexpr const char* relay_user = "the relay of transport channel";  // in messages

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
