// One UDP socket a rank; a packet is a datagram that is not fragmented. Datagrams beyond the receiving socket's memory
// are lost.
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <vector>

#include "core/error.hpp"
#include "transport/accl/network.hpp"
#include "transport/sockets.hpp"
#include "world/collect.hpp"
#include "world/hosts.hpp"

namespace plumb::accl {

namespace {

constexpr const char* udp_user = "transport accl-udp";
constexpr std::size_t most_datagrams = 32;  // of one call
constexpr int wished_memory = 4 << 20;      // of the socket, bytes
constexpr std::size_t ip_and_udp_headers = 28;

[[noreturn]] void udp_failure(const char* what) {
  throw Error(fmt::format("{} cannot {}: {}", udp_user, what, std::strerror(errno)));
}

void set_option(int file, int level, int option, int value, const char* what) {
  if (setsockopt(file, level, option, &value, sizeof value) != 0) udp_failure(what);
}

int option_of(int file, int level, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  return getsockopt(file, level, option, &value, &size) == 0 ? value : 0;
}

// Largest datagram of the route to an address, with the headers of IP and UDP; 0 if unknown.
std::size_t mtu_to(const sockaddr_in& address) {
  const Descriptor probe(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return 0;
  return static_cast<std::size_t>(std::max(0, option_of(probe.get(), IPPROTO_IP, IP_MTU)));
}

class UdpNetwork : public Network {
 public:
  UdpNetwork(World& world, std::size_t packet)
      : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)), places_(most_datagrams * largest_packet) {
    const int file = socket_.get();
    sockaddr_in any{};
    any.sin_family = AF_INET;
    socklen_t size = sizeof any;
    if (file < 0 || bind(file, reinterpret_cast<sockaddr*>(&any), size) != 0 ||
        getsockname(file, reinterpret_cast<sockaddr*>(&any), &size) != 0)
      udp_failure("open a port of this host");
    set_option(file, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO, "forbid fragments");
    set_option(file, SOL_SOCKET, SO_RCVBUF, wished_memory, "set the memory of its socket");
    find_others(world, ntohs(any.sin_port), packet);
    // What the kernel charges for a datagram: its memory, at most twice its bytes, and the descriptor's.
    const std::size_t charged = 2 * packet + 1024;
    const auto memory = static_cast<std::size_t>(option_of(file, SOL_SOCKET, SO_RCVBUF));
    window_ = static_cast<std::uint32_t>(std::max<std::size_t>(1, memory / 4 * 3 / charged / addresses_.size()));
    for (std::size_t i = 0; i < most_datagrams; ++i) parts_[i] = {places_.data() + i * largest_packet, largest_packet};
  }

  std::size_t send(int peer, std::span<const Packet> packets) override {
    std::array<mmsghdr, most_datagrams> datagrams{};
    std::array<iovec, 2 * most_datagrams> parts{};
    const std::size_t number = std::min(packets.size(), most_datagrams);
    for (std::size_t i = 0; i < number; ++i) {
      const Packet& packet = packets[i];
      parts[2 * i] = {const_cast<Header*>(&packet.header), header_bytes};
      parts[2 * i + 1] = {const_cast<std::byte*>(packet.payload), packet.header.bytes};
      msghdr& head = datagrams[i].msg_hdr;
      head.msg_name = &addresses_[static_cast<std::size_t>(peer)];
      head.msg_namelen = sizeof(sockaddr_in);
      head.msg_iov = &parts[2 * i];
      head.msg_iovlen = packet.header.bytes > 0 ? 2 : 1;
    }
    const int sent = sendmmsg(socket_.get(), datagrams.data(), static_cast<unsigned>(number), MSG_DONTWAIT);
    if (sent < 0 && errno == EMSGSIZE) udp_failure("send a packet of this size");
    return static_cast<std::size_t>(std::max(0, sent));
  }

  void abandon(int, const Packet&) override {}

  bool receive(Sink& sink) override {
    std::array<mmsghdr, most_datagrams> datagrams{};
    for (std::size_t i = 0; i < most_datagrams; ++i) {
      datagrams[i].msg_hdr.msg_iov = &parts_[i];
      datagrams[i].msg_hdr.msg_iovlen = 1;
    }
    const int came = recvmmsg(socket_.get(), datagrams.data(), most_datagrams, MSG_DONTWAIT, nullptr);
    for (int i = 0; i < came; ++i) {
      const auto* at = static_cast<const std::byte*>(parts_[static_cast<std::size_t>(i)].iov_base);
      Header header;
      std::memcpy(&header, at, header_bytes);
      const std::size_t size = datagrams[static_cast<std::size_t>(i)].msg_len;
      if (size < header_bytes || size != header_bytes + header.bytes) continue;  // no packet of ours
      sink.take(header, at + header_bytes);
    }
    return came > 0;
  }

  void wait(int milliseconds, std::span<const int> others) override {
    std::vector<pollfd> waited{{socket_.get(), POLLIN, 0}};
    for (const int file : others) waited.push_back({file, POLLIN, 0});
    poll(waited.data(), waited.size(), milliseconds);
  }
  bool is_reliable() const override { return false; }
  std::uint32_t window() const override { return window_; }

 private:
  void find_others(World& world, std::uint16_t port, std::size_t packet) {
    const std::vector<std::string> offers = all_texts(world, fmt::format("{} {}", own_host_name(), port)),
                                   hosts = hosts_of_ranks(world);
    std::string problem;
    for (std::size_t rank = 0; rank < offers.size(); ++rank) {
      std::string host, number;
      std::istringstream(offers[rank]) >> host >> number;
      const bool same_host = hosts[rank] == hosts[static_cast<std::size_t>(world.rank())];
      addresses_.push_back(resolved(udp_user, host, number, same_host));
      const std::size_t mtu = mtu_to(addresses_.back());
      if (mtu > 0 && packet + ip_and_udp_headers > mtu && problem.empty())
        problem = fmt::format(
            "--accl-packet {}: with {} bytes of headers it exceeds the {} bytes (MTU) of the route to {}; at most {} "
            "fit",
            packet, ip_and_udp_headers, mtu, host, (mtu - ip_and_udp_headers) / header_bytes * header_bytes);
    }
    if (const AgreedText agreed = first_text(world, problem); agreed.rank >= 0) throw UsageError(agreed.text);
  }

  Descriptor socket_;
  std::vector<std::byte> places_;
  std::array<iovec, most_datagrams> parts_{};
  std::vector<sockaddr_in> addresses_;  // by rank
  std::uint32_t window_ = 1;
};

}  // namespace

std::unique_ptr<Network> make_udp_network(World& world, std::size_t packet) {
  return std::make_unique<UdpNetwork>(world, packet);
}

}  // namespace plumb::accl
