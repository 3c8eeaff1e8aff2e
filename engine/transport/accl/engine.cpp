#include "transport/accl/engine.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

namespace plumb::accl {

namespace {

constexpr std::size_t most_in_batch = 64;          // packets
constexpr std::uint64_t idle_before_accounts = 8;  // passes without work
constexpr double between_accounts = 0.05;          // seconds, of networks that lose packets
constexpr std::uint32_t heard_after = 3;           // accounts, as these may be lost too
constexpr int nap_ms = 1;

// Of counters that wrap around.
std::int32_t ahead(std::uint32_t one, std::uint32_t other) {
  return static_cast<std::int32_t>(one - other);
}

std::uint32_t at_least_one(std::uint32_t value) {
  return std::max<std::uint32_t>(1, value);
}

}  // namespace

Engine::Engine(int rank, int size, const Settings& settings, std::unique_ptr<Network> network, std::uint32_t session)
    : rank_(static_cast<std::uint32_t>(rank)),
      settings_(settings),
      network_(std::move(network)),
      session_(session),
      window_(network_->window()),
      share_(at_least_one(settings.buffers / static_cast<std::uint32_t>(size))),
      peers_(static_cast<std::size_t>(size)),
      pool_(settings.buffers * settings.buffer_bytes) {
  restart(session);
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

Engine::~Engine() {
  thread_.request_stop();
  thread_.join();
}

void Engine::issue(const Command& command, Ticket& ticket) {
  ticket.open.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  commands_.push_back({command, &ticket});
}

void Engine::read_stream(int from, std::uint32_t number, std::byte* to, std::uint64_t bytes, Ticket& ticket) {
  ticket.open.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (failed_) return end(ticket, status::packets_out_of_sequence);
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  Stream& stream = stream_of(peer, number);
  stream.readers.push_back({0, to, bytes, &ticket});
  feed(stream, nullptr, 0);
  while (!stream.packets.empty() && !stream.readers.empty()) {
    std::vector<std::byte>& packet = stream.packets.front();
    packet.erase(packet.begin(),
                 packet.begin() + static_cast<std::ptrdiff_t>(feed(stream, packet.data(), packet.size())));
    if (!packet.empty()) break;
    stream.packets.pop_front();
    ++peer.own_taken;
  }
}

bool Engine::advance() {
  advanced_.fetch_add(1, std::memory_order_relaxed);
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && progress();
}

Counts Engine::counts() {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string Engine::fault() {
  const std::lock_guard lock(mutex_);
  return fault_;
}

void Engine::restart(std::uint32_t session) {
  const std::lock_guard lock(mutex_);
  end_all();
  for (Peer& peer : peers_) {
    const bool is_closed = peer.is_closed;
    peer = Peer();
    peer.is_closed = is_closed;
  }
  free_.clear();
  for (std::uint32_t i = settings_.buffers; i-- > 0;) free_.push_back(i);
  session_ = session;
  failed_ = false;
  fault_.clear();
}

// A client that waits does the engine's work with less delay: then the thread only looks now and then.
void Engine::serve(const std::stop_token& stop) {
  for (std::uint64_t seen = 0; !stop.stop_requested();) {
    const std::uint64_t advanced = advanced_.load(std::memory_order_relaxed);
    if (advanced != seen) {
      seen = advanced;
      std::this_thread::sleep_for(std::chrono::milliseconds(nap_ms));
      continue;
    }
    bool moved = false;
    {
      const std::lock_guard lock(mutex_);
      moved = progress();
    }
    if (!moved) network_->wait(nap_ms);
  }
}

bool Engine::progress() {
  bool moved = !commands_.empty();
  for (; !commands_.empty(); commands_.pop_front()) execute(commands_.front());
  for (std::size_t i = 0; i < peers_.size(); ++i) moved = send_to(i) || moved;
  moved = network_->receive(*this) || moved;
  idle_ = moved ? 0 : idle_ + 1;
  if (failed_ || idle_ >= idle_before_accounts) look_after();
  if (failed_) end_all();
  return moved;
}

// --- commands -----------------------------------------------------------------------------------

void Engine::execute(const Issued& issued) {
  ++counts_.commands;
  Ticket& ticket = *issued.ticket;
  if (failed_) return end(ticket, status::packets_out_of_sequence);
  switch (issued.command.call) {
    case Call::nop:
      ++counts_.nops;
      return end(ticket, status::done);
    case Call::copy:
      return copy(issued.command, ticket);
    case Call::send:
      return start_send(issued.command, ticket);
    case Call::recv:
      return start_receive(issued.command, ticket);
    default:
      return end(ticket, status::not_implemented);
  }
}

void Engine::start_send(const Command& command, Ticket& ticket) {
  Peer& peer = peers_[command.peer];
  Send send{Kind::eager, command.tag, command.function, command.get_address(0), command.elements, &ticket};
  ++counts_.messages;
  if (command.streams == result_is_stream) {
    send.kind = Kind::stream;
    if (send.length == 0) return end(ticket, status::done);
  }
  if (send.kind == Kind::stream || send.length <= settings_.eager_limit) {
    ++counts_.eager;
    peer.sends.push_back(send);
    return;
  }
  ++counts_.rendezvous;
  send.kind = Kind::write;
  const auto asked = std::find_if(peer.addresses.begin(), peer.addresses.end(),
                                  [&](const Address& one) { return one.tag == send.tag; });
  if (asked == peer.addresses.end()) {
    peer.without_address.push_back(send);
    return;
  }
  send.address = asked->address;
  peer.addresses.erase(asked);
  peer.writes.push_back(send);
}

void Engine::start_receive(const Command& command, Ticket& ticket) {
  Peer& peer = peers_[command.peer];
  Receive receive{command.tag, command.get_address(2), command.elements, &ticket};
  if (receive.length > settings_.eager_limit) {
    receive.address = ++addresses_;
    Header address;
    address.kind = Kind::address;
    address.tag = receive.tag;
    address.length = receive.length;
    address.address = receive.address;
    peer.rendezvous.push_back(receive);
    peer.controls.push_back(address);
    return;
  }
  auto& here = peer.segments_here;
  for (auto segment = here.begin(); segment != here.end();) {
    if (!matches(receive, *segment)) {
      ++segment;
      continue;
    }
    const Segment taken = *segment;
    segment = here.erase(segment);
    if (give(peer, receive, taken)) return;
    if (failed_) return end(ticket, status::packets_out_of_sequence);
  }
  peer.receives.push_back(receive);
}

void Engine::copy(const Command& command, Ticket& ticket) {
  ++counts_.copies;
  if (command.streams != result_is_stream) {
    std::memcpy(command.get_address(2), command.get_address(0), command.elements);
    return end(ticket, status::done);
  }
  Stream& stream = stream_of(peers_[rank_], command.function);
  const bool taken = feed(stream, command.get_address(0), command.elements) == command.elements;
  end(ticket, taken ? status::done : status::not_implemented);  // without a kernel that waits
}

// --- sending ------------------------------------------------------------------------------------

bool Engine::send_to(std::size_t number) {
  Peer& peer = peers_[number];
  if (peer.left == peer.batch.size()) fill(number);
  if (peer.batch.empty()) return false;
  const std::size_t gone = network_->send(static_cast<int>(number), std::span(peer.batch).subspan(peer.left));
  peer.left += gone;
  if (peer.left == peer.batch.size()) {
    for (Ticket* ticket : peer.ends) end(*ticket, status::done);
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
      peer.ends.push_back(send.ticket);
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
  header.freed = peer.told_freed = peer.own_freed;
  header.taken = peer.told_taken = peer.own_taken;
  if (header.kind < Kind::credit) {
    ++counts_.packets;
    counts_.bytes += header_bytes + header.bytes;
    peer.unheard = heard_after;
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

// --- receiving ----------------------------------------------------------------------------------

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
  if (header.kind == Kind::stream && !take_stream(peer, header, payload)) return false;
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
  copy_out(segment.buffer, receive.to + receive.received, segment.bytes);
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

Engine::Stream& Engine::stream_of(Peer& peer, std::uint32_t number) {
  for (auto& [known, stream] : peer.streams)
    if (known == number) return stream;
  return peer.streams.emplace_back(number, Stream()).second;
}

// Gives bytes to the kernels that wait; returns how many they took.
std::size_t Engine::feed(Stream& stream, const std::byte* bytes, std::size_t size) {
  std::size_t taken = 0;
  while (!stream.readers.empty()) {
    Receive& reader = stream.readers.front();
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(size - taken, reader.length - reader.received));
    if (part > 0) std::memcpy(reader.to + reader.received, bytes + taken, part);
    reader.received += part;
    taken += part;
    if (reader.received < reader.length) break;
    end(*reader.ticket, status::done);
    stream.readers.pop_front();
  }
  return taken;
}

bool Engine::take_stream(Peer& peer, const Header& header, const std::byte* payload) {
  Stream& stream = stream_of(peer, header.stream);
  if (!settings_.credit && stream.packets.size() >= window_) {
    if (network_->is_reliable()) return false;
    fail(fmt::format("a packet from rank {} was lost: its stream is full (--accl-credit prevents it)", header.source));
    return true;
  }
  const std::size_t taken = stream.packets.empty() ? feed(stream, payload, header.bytes) : 0;
  if (taken == header.bytes)
    ++peer.own_taken;
  else
    stream.packets.emplace_back(payload + taken, payload + header.bytes);
  return true;
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

// --- ends ---------------------------------------------------------------------------------------

void Engine::end(Ticket& ticket, std::uint32_t status) {
  if (status != status::done) ticket.status.fetch_or(status, std::memory_order_relaxed);
  ticket.open.fetch_sub(1, std::memory_order_release);
}

// The commands end at the end of this pass, as some are in use.
void Engine::fail(const std::string& why) {
  if (failed_) return;
  failed_ = true;
  fault_ = why;
  last_account_ = 0;  // the others are told at once
}

void Engine::end_all() {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    Peer& peer = peers_[i];
    if (peer.left < peer.batch.size()) network_->abandon(static_cast<int>(i), peer.batch[peer.left]);
    peer.batch.clear();
    peer.left = 0;
    for (Ticket* ticket : std::exchange(peer.ends, {})) end(*ticket, status::packets_out_of_sequence);
    for (auto* list : {&peer.sends, &peer.writes, &peer.without_address})
      for (const Send& send : std::exchange(*list, {})) end(*send.ticket, status::packets_out_of_sequence);
    for (auto* list : {&peer.receives, &peer.rendezvous})
      for (const Receive& receive : std::exchange(*list, {})) end(*receive.ticket, status::packets_out_of_sequence);
    for (auto& [number, stream] : peer.streams)
      for (const Receive& reader : std::exchange(stream.readers, {}))
        end(*reader.ticket, status::packets_out_of_sequence);
  }
}

double Engine::now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace plumb::accl
