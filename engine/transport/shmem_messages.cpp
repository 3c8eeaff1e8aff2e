#include "transport/shmem_messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/error.hpp"

namespace plumb {

namespace {

constexpr std::size_t places = 8;  // per ring
constexpr std::size_t largest_rings = 64 << 20;

std::size_t place_bytes(int size) {
  return std::clamp<std::size_t>(largest_rings / places / static_cast<std::size_t>(size) / 8 * 8, 128, 64 << 10);
}

std::size_t memory_bytes(int size) {
  return static_cast<std::size_t>(size) * (2 * sizeof(SymmetricWord) + places * place_bytes(size));
}

}  // namespace

ShmemMessages::ShmemMessages(int size)
    : rank_(shmem_my_pe()),
      size_(size),
      place_bytes_(place_bytes(size)),
      memory_(memory_bytes(size)),
      scratch_(place_bytes_),
      peers_(static_cast<std::size_t>(size)) {}

std::byte* ShmemMessages::place(int from, SymmetricWord piece) const {
  const auto ring = static_cast<std::size_t>(from) * places + piece % places;
  return memory_.data() + 2 * static_cast<std::size_t>(size_) * sizeof(SymmetricWord) + ring * place_bytes_;
}

void ShmemMessages::send(const std::byte* bytes, std::size_t size, int to, int lane, std::uint64_t* pending) {
  ++*pending;
  peers_[static_cast<std::size_t>(to)].sends.push_back({bytes, size, 0, lane, pending});
}

void ShmemMessages::receive(std::byte* bytes, std::size_t size, int from, int lane, std::uint64_t* pending) {
  ++*pending;
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  const auto early =
      std::find_if(peer.unwished.begin(), peer.unwished.end(), [&](const Arriving& one) { return one.lane == lane; });
  if (early == peer.unwished.end()) {
    // The arriving message matches the first receive on its lane.
    if (!peer.current.empty() && peer.current[0].lane == lane && peer.current[0].wished.pending == nullptr)
      peer.current[0].wished = {bytes, size, lane, pending};
    else
      peer.receives.push_back({bytes, size, lane, pending});
    return;
  }
  std::memcpy(bytes, early->kept.data(), std::min(size, early->kept.size()));
  peer.unwished.erase(early);
  --*pending;
}

bool ShmemMessages::progress(int rank) {
  Peer& peer = peers_[static_cast<std::size_t>(rank)];
  const bool sent = !peer.sends.empty() && push(peer, rank);
  const bool received = (!peer.receives.empty() || !peer.current.empty()) && pull(peer, rank);
  return sent || received;
}

bool ShmemMessages::push(Peer& peer, int rank) {
  bool moved = false;
  while (!peer.sends.empty()) {
    Sending& message = peer.sends.front();
    if (peer.sent >= places && !at_least(taken(rank), peer.sent + 1 - places)) return moved;
    const std::size_t piece = std::min(message.size - message.offset, place_bytes_ - sizeof(Header));
    const Header header{static_cast<std::uint64_t>(message.lane), message.size, piece};
    std::memcpy(scratch_.data(), &header, sizeof header);
    if (piece > 0) std::memcpy(scratch_.data() + sizeof header, message.bytes + message.offset, piece);
    shmem_putmem(place(rank_, peer.sent), scratch_.data(), sizeof header + piece, rank);
    set_after_puts(arrived(rank_), ++peer.sent, rank);
    message.offset += piece;
    moved = true;
    if (message.offset < message.size) continue;
    --*message.pending;
    peer.sends.pop_front();
  }
  return moved;
}

bool ShmemMessages::pull(Peer& peer, int rank) {
  bool moved = false;
  while ((!peer.receives.empty() || !peer.current.empty()) && at_least(arrived(rank), peer.received + 1)) {
    const std::byte* at = place(rank, peer.received);
    Header header{};
    std::memcpy(&header, at, sizeof header);
    take(peer, header, at + sizeof header);
    shmem_ulong_atomic_set(taken(rank_), ++peer.received, rank);
    moved = true;
  }
  return moved;
}

ShmemMessages::Arriving ShmemMessages::begin(Peer& peer, const Header& header) {
  Arriving arriving{static_cast<int>(header.lane)};
  const auto wished = std::find_if(peer.receives.begin(), peer.receives.end(),
                                   [&](const Receiving& one) { return one.lane == arriving.lane; });
  if (wished == peer.receives.end()) {
    arriving.kept.resize(header.size);
    return arriving;
  }
  if (wished->size != header.size)
    throw Error(fmt::format("received a message of {} B, but expected {} B", header.size, wished->size));
  arriving.wished = *wished;
  peer.receives.erase(wished);
  return arriving;
}

void ShmemMessages::take(Peer& peer, const Header& header, const std::byte* bytes) {
  if (peer.current.empty()) peer.current.push_back(begin(peer, header));
  Arriving& arriving = peer.current[0];
  std::byte* to = arriving.kept.empty() ? arriving.wished.bytes : arriving.kept.data();
  if (header.piece > 0) std::memcpy(to + arriving.offset, bytes, header.piece);
  arriving.offset += header.piece;
  if (arriving.offset == header.size) end(peer);
}

void ShmemMessages::end(Peer& peer) {
  Arriving& arriving = peer.current[0];
  if (arriving.wished.pending == nullptr) {
    peer.unwished.push_back(std::move(arriving));
  } else {
    if (!arriving.kept.empty()) std::memcpy(arriving.wished.bytes, arriving.kept.data(), arriving.kept.size());
    --*arriving.wished.pending;
  }
  peer.current.clear();
}

}  // namespace plumb
