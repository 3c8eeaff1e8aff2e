#include "world/shmem_mailbox.hpp"

#include <algorithm>
#include <cstring>

#include "world/watchdog.hpp"

namespace plumb {

namespace {

std::ptrdiff_t piece_bytes(int size) {
  return std::clamp<std::ptrdiff_t>((256 << 10) / size / 8 * 8, 128, 4096);
}

std::size_t mailbox_bytes(int size) {
  return static_cast<std::size_t>(size) * (2 * sizeof(SymmetricWord) + static_cast<std::size_t>(piece_bytes(size)));
}

}  // namespace

Mailbox::Mailbox(int rank, int size)
    : rank_(rank),
      size_(size),
      piece_(piece_bytes(size)),
      memory_(mailbox_bytes(size)),
      peers_(static_cast<std::size_t>(size)) {}

void Mailbox::send(std::span<const std::byte> bytes, int to) {
  Peer& peer = peers_[static_cast<std::size_t>(to)];
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), static_cast<std::size_t>(piece_)));
    wait_at_least(taken(to), peer.sent);
    shmem_putmem(place(rank_), piece.data(), piece.size(), to);
    set_after_puts(arrived(rank_), ++peer.sent, to);
    bytes = bytes.subspan(piece.size());
    Waiting::progress();
  }
}

void Mailbox::receive(std::span<std::byte> bytes, int from) {
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), static_cast<std::size_t>(piece_)));
    wait_at_least(arrived(from), ++peer.received);
    std::memcpy(piece.data(), place(from), piece.size());
    set_after_puts(taken(rank_), peer.received, from);
    bytes = bytes.subspan(piece.size());
    Waiting::progress();
  }
}

}  // namespace plumb
