// A TCP connection between each pair of ranks, and from each rank to itself.
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "transport/accl/network.hpp"
#include "transport/sockets.hpp"
#include "world/collect.hpp"
#include "world/hosts.hpp"

namespace plumb::accl {

namespace {

constexpr const char* tcp_user = "transport accl-tcp";
constexpr std::size_t staging_bytes = 256 << 10;
constexpr std::size_t most_parts = 256;  // of one call
constexpr std::uint32_t tcp_window = 256;
constexpr int look_ms = 100;
constexpr std::chrono::seconds farewell(1);

struct Connection {
  Descriptor both, to_myself;  // a rank's connection to itself has two ends: it sends on the second
  int out() const { return to_myself.get() >= 0 ? to_myself.get() : both.get(); }
  int in() const { return both.get(); }

  std::size_t left = 0;         // bytes of the next packet that were sent
  std::vector<std::byte> tail;  // of an abandoned packet, sent before any other
  std::vector<std::byte> staging = std::vector<std::byte>(staging_bytes);
  std::size_t begin = 0, end = 0;  // received and not taken
  bool open = true;
};

class TcpNetwork : public Network {
 public:
  explicit TcpNetwork(World& world) : connections_(static_cast<std::size_t>(world.size())) {
    const auto rank = static_cast<std::size_t>(world.rank()), size = connections_.size();
    const ListeningSocket listener(tcp_user, 0);
    const std::vector<std::string> offers = all_texts(world, listener.offer()), hosts = hosts_of_ranks(world);
    for (std::size_t lower = 0; lower <= rank; ++lower) {
      Descriptor file = connected(tcp_user, offers[lower], rank - lower, hosts[lower] == hosts[rank]);
      (lower == rank ? connections_[lower].to_myself : connections_[lower].both) = std::move(file);
    }
    std::vector<Descriptor> came = listener.accepted(size - rank);
    for (std::size_t i = 0; i < came.size(); ++i) connections_[rank + i].both = std::move(came[i]);
    for (const Connection& one : connections_) waited_.push_back({one.in(), POLLIN, 0});
  }

  // What was sent is lost if the connection is closed with bytes to read: waits for the other ranks' ends.
  ~TcpNetwork() override {
    for (Connection& one : connections_) shutdown(one.out(), SHUT_WR);
    const auto until = std::chrono::steady_clock::now() + farewell;
    for (Connection& one : connections_)
      while (one.open && std::chrono::steady_clock::now() < until)
        if (is_ready(one.in(), POLLIN, look_ms) &&
            recv(one.in(), one.staging.data(), one.staging.size(), MSG_DONTWAIT) <= 0)
          break;
  }
  TcpNetwork(const TcpNetwork&) = delete;
  TcpNetwork& operator=(const TcpNetwork&) = delete;

  std::size_t send(int peer, std::span<const Packet> packets) override {
    Connection& to = connections_[static_cast<std::size_t>(peer)];
    if (!send_tail(to)) return 0;
    std::array<iovec, most_parts> parts;
    std::size_t used = 0, skipped = to.left;
    const auto add = [&](const void* bytes, std::size_t size) {
      const std::size_t skip = std::min(skipped, size);
      skipped -= skip;
      if (size > skip)
        parts[used++] = {const_cast<std::byte*>(static_cast<const std::byte*>(bytes)) + skip, size - skip};
    };
    for (const Packet& packet : packets.first(std::min(packets.size(), most_parts / 2))) {
      add(&packet.header, header_bytes);
      add(packet.payload, packet.header.bytes);
    }
    to.left += written(to, parts.data(), used);
    std::size_t gone = 0;
    for (; gone < packets.size() && to.left >= header_bytes + packets[gone].header.bytes; ++gone)
      to.left -= header_bytes + packets[gone].header.bytes;
    return gone;
  }

  void abandon(int peer, const Packet& next) override {
    Connection& to = connections_[static_cast<std::size_t>(peer)];
    if (to.left == 0) return;
    to.tail.resize(header_bytes + next.header.bytes);
    std::memcpy(to.tail.data(), &next.header, header_bytes);
    if (next.header.bytes > 0) std::memcpy(to.tail.data() + header_bytes, next.payload, next.header.bytes);
    to.tail.erase(to.tail.begin(), to.tail.begin() + static_cast<std::ptrdiff_t>(to.left));
    to.left = 0;
  }

  bool receive(Sink& sink) override {
    bool moved = false;
    for (std::size_t peer = 0; peer < connections_.size(); ++peer) {
      Connection& from = connections_[peer];
      if (!from.open) continue;
      moved = pass(from, sink) || moved;  // what was refused before
      if (from.end - from.begin >= header_bytes + largest_packet) continue;
      std::memmove(from.staging.data(), from.staging.data() + from.begin, from.end - from.begin);
      from.end -= std::exchange(from.begin, 0);
      const ssize_t size = recv(from.in(), from.staging.data() + from.end, staging_bytes - from.end, MSG_DONTWAIT);
      if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {
        from.open = false;
        waited_[peer].fd = -1;
        sink.closed(static_cast<int>(peer));
      }
      if (size <= 0) continue;
      from.end += static_cast<std::size_t>(size);
      moved = true;
      pass(from, sink);
    }
    return moved;
  }

  void wait(int milliseconds, std::span<const int> others) override {
    std::vector<pollfd> waited = waited_;
    for (const int file : others) waited.push_back({file, POLLIN, 0});
    poll(waited.data(), waited.size(), milliseconds);
  }
  bool is_reliable() const override { return true; }
  std::uint32_t window() const override { return tcp_window; }

 private:
  static std::size_t written(Connection& to, iovec* parts, std::size_t number) {
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = number;
    const ssize_t size = number == 0 ? 0 : sendmsg(to.out(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    return size < 0 ? 0 : static_cast<std::size_t>(size);  // a closed connection shows where it is read
  }

  static bool send_tail(Connection& to) {
    if (to.tail.empty()) return true;
    iovec part{to.tail.data(), to.tail.size()};
    to.tail.erase(to.tail.begin(), to.tail.begin() + static_cast<std::ptrdiff_t>(written(to, &part, 1)));
    return to.tail.empty();
  }

  // Returns whether a packet was taken.
  static bool pass(Connection& from, Sink& sink) {
    bool moved = false;
    while (from.end - from.begin >= header_bytes) {
      Header header;
      std::memcpy(&header, from.staging.data() + from.begin, header_bytes);
      if (from.end - from.begin < header_bytes + header.bytes) break;
      if (!sink.take(header, from.staging.data() + from.begin + header_bytes)) break;
      from.begin += header_bytes + header.bytes;
      moved = true;
    }
    return moved;
  }

  std::vector<Connection> connections_;  // by rank
  std::vector<pollfd> waited_;
};

}  // namespace

std::unique_ptr<Network> make_tcp_network(World& world, std::size_t) {
  return std::make_unique<TcpNetwork>(world);
}

}  // namespace plumb::accl
