// Packets between the engines of all ranks, over TCP or UDP sockets. A packet is a header of one 64-byte word and a
// payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "world/world.hpp"

namespace plumb::accl {

enum class Kind : std::uint32_t {
  eager,    // a part of a segment, for a receive buffer
  stream,   // for a kernel's stream
  address,  // rendezvous: a receive's address for its sender
  write,    // rendezvous: a part of the message, to that address
  done,     // rendezvous: all parts were sent
  credit,   // accounts only
  fault     // the sender's engine gave up
};

struct Header {
  std::uint32_t bytes = 0;  // of the payload
  std::uint32_t tag = 0;
  std::uint32_t source = 0;    // rank
  std::uint32_t sequence = 0;  // of all packets from that rank to this one
  std::uint32_t stream = 0;
  Kind kind = Kind::credit;
  std::uint32_t session = 0;  // packets of others are ignored
  std::uint32_t segment = 0;  // bytes of the whole segment
  std::uint32_t freed = 0;    // the sender's receive buffers that were freed for this rank, since the session's begin
  std::uint32_t taken = 0;    // the sender's packets taken from this rank, likewise
  std::uint64_t length = 0;   // bytes of the whole message
  std::uint64_t address = 0;  // of a rendezvous
  std::uint64_t reserved = 0;
};
static_assert(sizeof(Header) == 64);

struct Packet {
  Header header;
  const std::byte* payload = nullptr;
};

// Takes packets from a network.
class Sink {
 public:
  virtual ~Sink() = default;
  // False if there is no room for it now: TCP offers it again, UDP does not.
  virtual bool take(const Header& header, const std::byte* payload) = 0;
  virtual void closed(int peer) = 0;
};

class Network {
 public:
  virtual ~Network() = default;
  // Sends packets in order; returns how many left entirely. The next call for this peer begins with the first that did
  // not.
  virtual std::size_t send(int peer, std::span<const Packet> packets) = 0;
  // Instead of that next call: `next` is not sent any more, unless a part of it left.
  virtual void abandon(int peer, const Packet& next) = 0;
  // Passes on what has come, without waiting; returns whether anything came.
  virtual bool receive(Sink& sink) = 0;
  // Waits until something comes, from the network or in other files, for a limited time.
  virtual void wait(int milliseconds, std::span<const int> others) = 0;
  // Whether packets neither get lost nor change their order.
  virtual bool is_reliable() const = 0;
  // Packets that one sender may have under way.
  virtual std::uint32_t window() const = 0;
};

constexpr std::size_t header_bytes = sizeof(Header);
constexpr std::size_t largest_packet = 8960;  // bytes, with the header

// Collective. `packet`: bytes with the header. Throw UsageError for a packet above the network's, and Error.
std::unique_ptr<Network> make_tcp_network(World& world, std::size_t packet);
std::unique_ptr<Network> make_udp_network(World& world, std::size_t packet);

}  // namespace plumb::accl
