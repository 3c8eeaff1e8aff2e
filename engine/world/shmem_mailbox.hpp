// Messages of known size between two PEs, in order, through a place for each sender in every PE's symmetric memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "world/shmem.hpp"

namespace plumb {

class Mailbox {
 public:
  // Collective. Takes 4 KiB per sender, less with many PEs: 256 KiB in total, at least 128 bytes per sender.
  Mailbox(int rank, int size);
  // Returns when the last piece was put; a piece waits until the previous one was taken.
  void send(std::span<const std::byte> bytes, int to);
  void receive(std::span<std::byte> bytes, int from);
  // Both at once, to avoid deadlock between PEs that all send first.
  void exchange(std::span<const std::byte> sent, int to, std::span<std::byte> received, int from);

 private:
  static constexpr std::ptrdiff_t word_bytes = sizeof(SymmetricWord);
  struct Peer {
    SymmetricWord sent = 0, received = 0;  // pieces
  };

  // In symmetric memory: pieces put here by each PE, pieces taken by each PE, the places.
  SymmetricWord* arrived(int from) const { return memory_.as<SymmetricWord>() + from; }
  SymmetricWord* taken(int by) const { return memory_.as<SymmetricWord>() + size_ + by; }
  std::byte* place(int from) const { return memory_.data() + 2 * size_ * word_bytes + from * piece_; }

  bool can_send(int to) const;
  bool has_arrived(int from) const;
  void send_piece(std::span<const std::byte>& rest, int to);
  void receive_piece(std::span<std::byte>& rest, int from);

  int rank_;
  std::ptrdiff_t size_, piece_;
  SymmetricMemory memory_;
  std::vector<Peer> peers_;
};

}  // namespace plumb
