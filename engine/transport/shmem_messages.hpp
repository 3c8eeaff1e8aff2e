// Messages between PEs for transports: any number at a time, matched by lane, without prior agreement. A message is cut
// into pieces for the receiver's ring in symmetric memory, one ring for each sender; each piece is followed by a count,
// and the receiver returns the count of pieces it copied out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "world/shmem.hpp"

namespace plumb {

class ShmemMessages {
 public:
  // Collective. Rings take 512 KiB per sender, less with many PEs: 64 MiB in total, at least 1 KiB per sender.
  explicit ShmemMessages(int size);

  // Each increments *pending, which must outlive the message and is decremented when the bytes were sent, or received.
  // Messages between two PEs on one lane arrive in the order sent.
  void send(const std::byte* bytes, std::size_t size, int to, int lane, std::uint64_t* pending);
  void receive(std::byte* bytes, std::size_t size, int from, int lane, std::uint64_t* pending);
  // Makes progress to and from a PE; never waits. Returns whether anything moved.
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
    std::uint64_t lane, size, piece;  // bytes of the message and of this piece
  };
  // An arriving message, received into its destination or, until a receive is posted, a buffer.
  struct Arriving {
    int lane;
    std::size_t offset = 0;
    std::vector<std::byte> kept = {};
    Receiving wished = {};  // pending null: not posted
  };
  struct Peer {
    SymmetricWord sent = 0, received = 0;  // pieces
    std::deque<Sending> sends;
    std::deque<Receiving> receives;
    std::deque<Arriving> unwished;  // complete, except possibly the last
    std::vector<Arriving> current;  // at most one element
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
  std::vector<std::byte> scratch_;  // a piece with its header, for one put
  std::vector<Peer> peers_;
};

}  // namespace plumb
