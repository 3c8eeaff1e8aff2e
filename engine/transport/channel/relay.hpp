// A link between two hosts: at each end, threads pass bytes between the link's pipes and a connection each, over TCP or
// (transport vnx) by frames over UDP. Kernels see pipes, as on one host.
#pragma once

#include <thread>

#include "transport/channel/channel.hpp"
#include "transport/sockets.hpp"

namespace plumb::channel {

constexpr const char *relay_user = "the relay of transport channel", *frame_user = "transport vnx";  // in messages

// Passes bytes from one to the other until destroyed or until one of them closes.
class Relay {
 public:
  // The connection is owned, the pipe is not. At most `frame` bytes leave at once.
  Relay(int pipe, Descriptor connection, bool outgoing, std::size_t frame = 4096);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

 private:
  Descriptor connection_;
  std::jthread thread_;
};

// A receiver's end of a link by frames, and the sender's; `name` is the receiver's, HOST PORT. Throw Error; the
// sender's UsageError if frames exceed the route's MTU.
Descriptor frame_receiver(std::string& name);
Descriptor frame_sender(const std::string& name, bool same_host, std::size_t frame);

}  // namespace plumb::channel
