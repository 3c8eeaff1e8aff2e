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

// Waits until the previous piece was taken.
bool Mailbox::can_send(int to) const {
  return at_least(taken(to), peers_[static_cast<std::size_t>(to)].sent);
}

bool Mailbox::has_arrived(int from) const {
  return at_least(arrived(from), peers_[static_cast<std::size_t>(from)].received + 1);
}

void Mailbox::send_piece(std::span<const std::byte>& rest, int to) {
  const auto piece = rest.first(std::min(rest.size(), static_cast<std::size_t>(piece_)));
  shmem_putmem(place(rank_), piece.data(), piece.size(), to);
  set_after_puts(arrived(rank_), ++peers_[static_cast<std::size_t>(to)].sent, to);
  rest = rest.subspan(piece.size());
  Waiting::progress();
}

void Mailbox::receive_piece(std::span<std::byte>& rest, int from) {
  const auto piece = rest.first(std::min(rest.size(), static_cast<std::size_t>(piece_)));
  std::memcpy(piece.data(), place(from), piece.size());
  set_after_puts(taken(rank_), ++peers_[static_cast<std::size_t>(from)].received, from);
  rest = rest.subspan(piece.size());
  Waiting::progress();
}

void Mailbox::send(std::span<const std::byte> bytes, int to) {
  while (!bytes.empty()) {
    wait_at_least(taken(to), peers_[static_cast<std::size_t>(to)].sent);
    send_piece(bytes, to);
  }
}

void Mailbox::receive(std::span<std::byte> bytes, int from) {
  while (!bytes.empty()) {
    wait_at_least(arrived(from), peers_[static_cast<std::size_t>(from)].received + 1);
    receive_piece(bytes, from);
  }
}

void Mailbox::exchange(std::span<const std::byte> sent, int to, std::span<std::byte> received, int from) {
  Backoff backoff;
  while (!sent.empty() || !received.empty()) {
    const bool sends = !sent.empty() && can_send(to);
    if (sends) send_piece(sent, to);
    const bool receives = !received.empty() && has_arrived(from);
    if (receives) receive_piece(received, from);
    if (sends || receives)
      backoff = {};
    else
      backoff.wait();
  }
}

}  // namespace plumb
