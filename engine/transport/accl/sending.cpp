// What an engine sends: packets of its messages, and its accounts.
#include <fmt/format.h>

#include <algorithm>

#include "transport/accl/engine.hpp"

namespace plumb::accl {

namespace {

constexpr std::size_t most_in_batch = 64;  // packets
constexpr double between_accounts = 0.05;  // seconds, of networks that lose packets
constexpr std::uint32_t heard_after = 3;   // accounts, as these may be lost too

}  // namespace

bool Engine::send_to(std::size_t number) {
  Peer& peer = peers_[number];
  if (peer.left == peer.batch.size()) fill(number);
  if (peer.batch.empty()) return false;
  const std::size_t gone = network_->send(static_cast<int>(number), std::span(peer.batch).subspan(peer.left));
  peer.left += gone;
  if (peer.left == peer.batch.size()) {
    for (const End& one : peer.ends) end(*one.ticket, status::done);
    peer.ends.clear();
    peer.batch.clear();
    peer.left = 0;
  }
  return gone > 0;
}

void Engine::fill(std::size_t number) {
  Peer& peer = peers_[number];
  peer.batch.clear();
  peer.left = 0;
  for (; !peer.controls.empty(); peer.controls.pop_front()) add(number, peer.controls.front(), nullptr);
  for (auto* list : {&peer.writes, &peer.sends})
    while (!list->empty() && peer.batch.size() < most_in_batch && add_packet(number, list->front())) {
      Send& send = list->front();
      if (send.sent < send.length) continue;
      if (send.kind == Kind::write) {
        Header done;
        done.kind = Kind::done;
        done.address = send.address;
        add(number, done, nullptr);
      }
      peer.ends.push_back({send.ticket, send.words});
      list->pop_front();
    }
  const std::uint32_t freed = peer.own_freed - peer.told_freed, taken = peer.own_taken - peer.told_taken;
  if (settings_.credit && peer.batch.empty() && (2 * freed >= share_ || 2 * taken >= window_)) tell_accounts(number);
}

// False if the send has to wait for room at its receiver.
bool Engine::add_packet(std::size_t number, Send& send) {
  Peer& peer = peers_[number];
  // A write lands without delay and eager segments have their buffers, so TCP's own flow control is enough for both.
  const bool may_overrun = send.kind == Kind::stream || !network_->is_reliable();
  if (settings_.credit && may_overrun && peer.packets - peer.taken >= window_) return false;
  const std::uint64_t whole = send.kind == Kind::eager ? settings_.buffer_bytes : send.length;
  const std::uint64_t within = whole == 0 ? 0 : send.sent % whole, begin = send.sent - within;
  const std::uint64_t segment = std::min(whole, send.length - begin);
  if (send.kind == Kind::eager && within == 0) {
    if (settings_.credit && peer.segments - peer.freed >= share_) return false;
    ++peer.segments;
  }
  Header header;
  header.kind = send.kind;
  header.tag = send.tag;
  header.stream = send.stream;
  header.segment = static_cast<std::uint32_t>(segment);
  header.length = send.length;
  header.address = send.address;
  header.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(settings_.packet - header_bytes, segment - within));
  add(number, header, send.from + send.sent);
  send.sent += header.bytes;
  ++peer.packets;
  return true;
}

void Engine::add(std::size_t number, Header header, const std::byte* payload) {
  Peer& peer = peers_[number];
  header.source = rank_;
  header.session = session_;
  header.sequence = peer.sequence++;
  const bool is_message = header.kind < Kind::credit;
  // The receiver may wait for either.
  if (is_message || peer.told_freed != peer.own_freed || peer.told_taken != peer.own_taken) peer.unheard = heard_after;
  header.freed = peer.told_freed = peer.own_freed;
  header.taken = peer.told_taken = peer.own_taken;
  if (is_message) {
    ++counts_.packets;
    counts_.bytes += header_bytes + header.bytes;
  } else {
    ++counts_.credit_packets;
  }
  peer.batch.push_back({header, payload});
}

void Engine::tell_accounts(std::size_t number) {
  Header header;
  header.kind = Kind::credit;
  add(number, header, nullptr);
}

// While nothing moves: accounts that were not told; and where packets get lost, the number of the last one, by which
// its receiver learns that it is missing. A failed engine says so again and again, until all have heard it.
void Engine::look_after() {
  const bool again = now() - last_account_ > between_accounts;
  if (again) last_account_ = now();
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    Peer& peer = peers_[i];
    if (peer.is_closed && !failed_ && is_busy(peer)) fail(fmt::format("rank {} closed its connection", i));
    if (peer.is_closed || !peer.controls.empty() || peer.left < peer.batch.size()) continue;
    const bool owed = settings_.credit && (peer.own_freed != peer.told_freed || peer.own_taken != peer.told_taken);
    const bool unheard = again && !network_->is_reliable() && peer.unheard > 0;
    if (unheard) --peer.unheard;
    if (failed_ ? !again || i == rank_ : !owed && !unheard) continue;
    Header header;
    header.kind = failed_ ? Kind::fault : Kind::credit;
    peer.controls.push_back(header);
  }
}

bool Engine::is_busy(const Peer& peer) {
  return !peer.sends.empty() || !peer.writes.empty() || !peer.without_address.empty() || !peer.receives.empty() ||
         !peer.rendezvous.empty() || !peer.ends.empty() ||
         std::any_of(peer.streams.begin(), peer.streams.end(),
                     [](const auto& one) { return !one.second.readers.empty(); });
}

}  // namespace plumb::accl
