// Messages between PEs as transports need them: any number under way, matched by lane, nothing agreed beforehand. A
// message goes in pieces into a ring of places that its receiver has for each sender in symmetric memory; each piece
// is followed by a count, and the receiver counts back what it copied out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "world/shmem.hpp"

namespace plumb {

class ShmemMessages {
 public:
  // Collective. Rings take 512 KiB a sender, less with many PEs: 64 MiB together, at least 1 KiB a sender.
  explicit ShmemMessages(int size);

  // Each adds one to *pending, which must live until it is taken off again: when the bytes were sent from, or arrived.
  // Messages between two PEs on one lane arrive in the order in which they were sent.
  void send(const std::byte* bytes, std::size_t size, int to, int lane, std::uint64_t* pending);
  void receive(std::byte* bytes, std::size_t size, int from, int lane, std::uint64_t* pending);
  // Moves what can be moved to and from a PE; never waits. True when something moved.
  bool progress(int rank);

 private:
  struct Sending {
    const std::byte* bytes;
    std::size_t size, offset;
    int lane;
    std::uint64_t* pending;
  };
  struct Receiving {
    std::byte* bytes;
    std::size_t size;
    int lane;
    std::uint64_t* pending;
  };
  struct Header {
    std::uint64_t lane, size, piece;  // bytes of the message, and of this piece
  };
  // What arrives now, into where it was wished or, until somebody wishes it, into bytes of its own.
  struct Arriving {
    int lane;
    std::size_t offset = 0;
    std::vector<std::byte> kept = {};
    Receiving wished = {};  // pending null: not yet
  };
  struct Peer {
    SymmetricWord sent = 0, received = 0;  // pieces
    std::deque<Sending> sends;
    std::deque<Receiving> receives;
    std::deque<Arriving> unwished;  // arrived, or (the last) arriving
    std::vector<Arriving> current;  // at most one
  };

  bool push(Peer& peer, int rank);
  bool pull(Peer& peer, int rank);
  void take(Peer& peer, const Header& header, const std::byte* bytes);
  Arriving begin(Peer& peer, const Header& header);
  void end(Peer& peer);

  SymmetricWord* arrived(int from) const { return memory_.as<SymmetricWord>() + from; }
  SymmetricWord* taken(int by) const { return memory_.as<SymmetricWord>() + size_ + by; }
  std::byte* place(int from, SymmetricWord piece) const;

  int rank_;
  std::ptrdiff_t size_;
  std::size_t place_bytes_;
  SymmetricMemory memory_;
  std::vector<std::byte> scratch_;  // a piece with its header, as it is put
  std::vector<Peer> peers_;
};

}  // namespace plumb
