// What an engine takes from its network.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "transport/accl/engine.hpp"

namespace plumb::accl {

namespace {

// Of counters that wrap around.
std::int32_t ahead(std::uint32_t one, std::uint32_t other) {
  return static_cast<std::int32_t>(one - other);
}

}  // namespace

bool Engine::take(const Header& header, const std::byte* payload) {
  if (header.session != session_ || header.source >= peers_.size() || failed_) return true;
  Peer& peer = peers_[header.source];
  if (header.kind == Kind::fault) {
    fail("");
    return true;
  }
  if (header.sequence != peer.expected) {
    const std::int32_t gap = ahead(header.sequence, peer.expected);
    fail(gap > 0 ? fmt::format("packets missing from rank {}, lost or out of order: {}", header.source, gap)
                 : fmt::format("packet {} from rank {} came again, or late", header.sequence, header.source));
    return true;
  }
  if (header.kind == Kind::eager && !peer.assembling && free_.empty()) {
    if (network_->is_reliable()) return false;
    fail(fmt::format("a packet from rank {} was lost: all {} receive buffers are full (--accl-credit prevents it)",
                     header.source, settings_.buffers));
    return true;
  }
  if (header.kind == Kind::stream &&
      !(settings_.one_stream ? take_shared(peer, header, payload)
                             : take_stream(peer, stream_of(peer, header.stream), header, payload)))
    return false;
  ++peer.expected;
  if (ahead(header.freed, peer.freed) > 0) peer.freed = header.freed;
  if (ahead(header.taken, peer.taken) > 0) peer.taken = header.taken;
  switch (header.kind) {
    case Kind::eager:
      return take_eager(peer, header, payload);
    case Kind::address:
      take_address(peer, header);
      break;
    case Kind::write:
    case Kind::done:
      take_write(peer, header, payload);
      break;
    default:
      break;
  }
  return true;
}

bool Engine::take_eager(Peer& peer, const Header& header, const std::byte* payload) {
  ++peer.own_taken;
  if (!peer.assembling) {
    peer.segment = {header.tag, free_.back(), header.segment, header.length};
    peer.segment_bytes = 0;
    peer.assembling = true;
    free_.pop_back();
  }
  const std::size_t room = peer.segment.bytes - peer.segment_bytes, bytes = std::min<std::size_t>(room, header.bytes);
  if (bytes > 0) std::memcpy(place_of(peer.segment.buffer) + peer.segment_bytes, payload, bytes);
  peer.segment_bytes += bytes;
  if (peer.segment_bytes == peer.segment.bytes) {
    peer.assembling = false;
    match(peer, peer.segment);
  }
  return true;
}

void Engine::match(Peer& peer, const Segment& segment) {
  const auto receive = std::find_if(peer.receives.begin(), peer.receives.end(),
                                    [&](const Receive& one) { return matches(one, segment); });
  if (receive == peer.receives.end()) {
    peer.segments_here.push_back(segment);
    return;
  }
  if (give(peer, *receive, segment)) peer.receives.erase(receive);
}

// Returns whether the receive is complete.
bool Engine::give(Peer& peer, Receive& receive, const Segment& segment) {
  if (segment.length != receive.length) {
    fail(fmt::format("a message of {} bytes with tag {} came for a receive of {} bytes", segment.length, receive.tag,
                     receive.length));
    return false;
  }
  if (receive.to_stream) {
    copy_out(segment.buffer, moved_.data(), segment.bytes);
    pour(stream_of(peer, result_stream(receive.stream)), moved_.data(), segment.bytes, nullptr);
  } else {
    copy_out(segment.buffer, receive.to + receive.received, segment.bytes);
  }
  ++peer.own_freed;
  receive.received += segment.bytes;
  if (receive.received < receive.length) return false;
  ++counts_.copies;
  end(*receive.ticket, status::done);
  return true;
}

void Engine::copy_out(std::uint32_t buffer, std::byte* to, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, place_of(buffer), bytes);
  free_.push_back(buffer);
}

void Engine::take_address(Peer& peer, const Header& header) {
  const auto waiting = std::find_if(peer.without_address.begin(), peer.without_address.end(),
                                    [&](const Send& one) { return one.tag == header.tag; });
  if (waiting == peer.without_address.end()) {
    peer.addresses.push_back({header.tag, header.length, header.address});
    return;
  }
  waiting->address = header.address;
  peer.writes.push_back(*waiting);
  peer.without_address.erase(waiting);
}

void Engine::take_write(Peer& peer, const Header& header, const std::byte* payload) {
  if (header.kind == Kind::write) ++peer.own_taken;
  const auto receive = std::find_if(peer.rendezvous.begin(), peer.rendezvous.end(),
                                    [&](const Receive& one) { return one.address == header.address; });
  if (receive == peer.rendezvous.end()) return;  // of a wrong engine, after its end
  if (header.kind == Kind::write) {
    if (header.length != receive->length || header.bytes > receive->length - receive->received)
      return fail(fmt::format("a message of {} bytes with tag {} came for a receive of {} bytes", header.length,
                              receive->tag, receive->length));
    std::memcpy(receive->to + receive->received, payload, header.bytes);
    receive->received += header.bytes;
    return;
  }
  if (!is_written(*receive))
    return fail(
        fmt::format("rank {} ended a message after {} of {} bytes", header.source, receive->received, receive->length));
  end(*receive->ticket, status::done);
  peer.rendezvous.erase(receive);
}

void Engine::closed(int peer) {
  peers_[static_cast<std::size_t>(peer)].is_closed = true;
}

}  // namespace plumb::accl
