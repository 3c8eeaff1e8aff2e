// The path of one lane of transport `pipelined` between two hosts' memories: a ring of places, one for each piece of a
// message. Pieces are numbered over the lane's lifetime; piece n uses place n % depth.
#pragma once

#include <memory>
#include <vector>

#include "transport/transport.hpp"

namespace plumb {

// The sender's end. A place may be filled if room() is true; sent() passes it to the receiver.
class SendConduit {
 public:
  virtual ~SendConduit() = default;
  virtual bool room(std::uint64_t piece) = 0;
  virtual std::byte* place(std::uint64_t piece) = 0;
  virtual void sent(std::uint64_t piece, std::size_t bytes) = 0;
  // True if all pieces passed on have been read.
  virtual bool idle() { return true; }
};

// The receiver's end. expect() is called once per piece, in order; emptied() frees the piece's place.
class ReceiveConduit {
 public:
  virtual ~ReceiveConduit() = default;
  virtual void expect(std::uint64_t piece, std::size_t bytes) = 0;
  virtual bool arrived(std::uint64_t piece) = 0;
  virtual const std::byte* place(std::uint64_t piece) = 0;
  virtual void emptied(std::uint64_t piece) = 0;
};

// Path of pieces between ranks of one host, registered as "conduit".
struct ConduitOptions : Parameters {
  Choice through{*this,
                 {"pipeline-through",
                  "transports pipelined, channel: between ranks of one host, memory that both pin (segment), as "
                  "between hosts (world), or what it measures to be faster"},
                 "fastest",
                 {"fastest", "segment", "world"}};
};

struct ConduitShape {
  std::size_t piece_bytes = 0;
  unsigned depth = 1;
};

// Both ends' conduits of one step, in the order of its sends and receives. Collective over the ranks of the step.
struct Conduits {
  std::vector<std::unique_ptr<SendConduit>> sends;
  std::vector<std::unique_ptr<ReceiveConduit>> receives;
};

// Through host memory mapped by both ranks' devices: no copy between.
Conduits segment_conduits(const Step& step, World& world, Device& device, const ConduitShape& shape);
// By messages of `host`, with pinned places on each rank.
Conduits world_conduits(const Step& step, Transport& host, Device& device, const ConduitShape& shape);

}  // namespace plumb
