// The way of one lane of transport `pipelined` between two hosts' memories: a ring of places, each for one piece of a
// message. Pieces are numbered from the first that the lane ever carries; piece n lies in place n % depth.
#pragma once

#include <memory>
#include <vector>

#include "transport/transport.hpp"

namespace plumb {

// The sender's end. A place may be filled when room() says so; sent() hands it over.
class SendConduit {
 public:
  virtual ~SendConduit() = default;
  virtual bool room(std::uint64_t piece) = 0;
  virtual std::byte* place(std::uint64_t piece) = 0;
  virtual void sent(std::uint64_t piece, std::size_t bytes) = 0;
  // True when nothing handed over is still read here.
  virtual bool idle() { return true; }
};

// The receiver's end. expect() comes once for each piece, in order; emptied() gives its place back.
class ReceiveConduit {
 public:
  virtual ~ReceiveConduit() = default;
  virtual void expect(std::uint64_t piece, std::size_t bytes) = 0;
  virtual bool arrived(std::uint64_t piece) = 0;
  virtual const std::byte* place(std::uint64_t piece) = 0;
  virtual void emptied(std::uint64_t piece) = 0;
};

// How pieces go between ranks of one host: registered as "conduit".
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

// Through memory of the host that both ranks' devices copy from and to: no copy between.
Conduits segment_conduits(const Step& step, World& world, Device& device, const ConduitShape& shape);
// By the messages of `host`, each rank with pinned places of its own.
Conduits world_conduits(const Step& step, Transport& host, Device& device, const ConduitShape& shape);

}  // namespace plumb
