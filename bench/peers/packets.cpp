// A message there and back between two processes over bare TCP or UDP sockets, with the packets and copies of
// transports accl-tcp and accl-udp and nothing else of theirs: no commands, no matching, no thread.
//
//   peer_packets tcp|udp BYTES [SECONDS]
//
// Packets are of 1,536 bytes with a header of 64. Up to 32 KiB, and over UDP always: segments of 1 KiB into one of
// eight buffers, then copied to their place, with a credit packet for each four. Longer over TCP: an address packet,
// the message to its place, an end packet. Prints the median seconds of one message, one way.
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::size_t packet_bytes = 1536, header_bytes = 64, segment_bytes = 1024, buffers = 8, batch = 64;
constexpr std::size_t longest_eager = 32 << 10;

struct Header {
  std::uint32_t kind = 0, bytes = 0;
  std::array<std::uint32_t, 14> rest{};
};
static_assert(sizeof(Header) == header_bytes);
enum Kind : std::uint32_t { part = 1, address, end, credit };

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::_Exit(1);
}

void look(std::uint32_t& misses) {
  if (++misses % 16 == 0) sched_yield();
}

// One end of the pair.
class End {
 public:
  End(bool udp, int file, std::size_t bytes)
      : udp_(udp),
        eager_(udp || bytes <= longest_eager),
        file_(file),
        out_(bytes, std::byte{7}),
        in_(bytes),
        staging_(256 << 10),
        pool_(buffers * segment_bytes) {}

  void send() {
    if (!eager_) await(address);
    const std::size_t most = eager_ ? segment_bytes : packet_bytes - header_bytes;
    for (std::size_t at = 0; at < out_.size();) {
      std::size_t used = 0;
      for (; used < batch && at < out_.size() && (!eager_ || sent_ - freed_ < buffers); ++used) {
        const std::size_t size = std::min(most, out_.size() - at);
        headers_[used] = {part, static_cast<std::uint32_t>(size), {}};
        parts_[2 * used] = {&headers_[used], header_bytes};
        parts_[2 * used + 1] = {out_.data() + at, size};
        at += size;
        ++sent_;
      }
      if (used > 0)
        put(used);
      else
        receive_some();
    }
    if (!eager_) put_one(end);
  }

  void receive() {
    received_ = 0;
    if (!eager_) put_one(address);
    for (std::uint32_t misses = 0; received_ < in_.size();)
      if (!receive_some()) look(misses);
    if (!eager_) await(end);
  }

 private:
  void await(Kind kind) {
    for (std::uint32_t misses = 0; came_[kind] == 0;)
      if (!receive_some()) look(misses);
    --came_[kind];
  }

  void put_one(Kind kind) {
    headers_[0] = {kind, 0, {}};
    parts_[0] = {&headers_[0], header_bytes};
    parts_[1] = {nullptr, 0};
    put(1);
  }

  void put(std::size_t packets) { udp_ ? put_datagrams(packets) : put_stream(packets); }

  void put_datagrams(std::size_t packets) {
    std::array<mmsghdr, batch> messages{};
    for (std::size_t i = 0; i < packets; ++i) {
      messages[i].msg_hdr.msg_iov = &parts_[2 * i];
      messages[i].msg_hdr.msg_iovlen = 2;
    }
    for (std::size_t gone = 0; gone < packets;) {
      const int some = sendmmsg(file_, &messages[gone], static_cast<unsigned>(packets - gone), 0);
      if (some < 0) give_up("sendmmsg");
      gone += static_cast<std::size_t>(some);
    }
  }

  // Both ends may send more than the sockets hold: what comes is received meanwhile.
  void put_stream(std::size_t packets) {
    iovec* parts = parts_.data();
    std::size_t number = 2 * packets;
    for (std::uint32_t misses = 0; number > 0;) {
      msghdr message{};
      message.msg_iov = parts;
      message.msg_iovlen = number;
      ssize_t some = sendmsg(file_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (some < 0) {
        if (!receive_some()) look(misses);
        continue;
      }
      for (; number > 0 && static_cast<std::size_t>(some) >= parts->iov_len; ++parts, --number)
        some -= static_cast<ssize_t>(parts->iov_len);
      if (number == 0) break;
      parts->iov_base = static_cast<std::byte*>(parts->iov_base) + some;
      parts->iov_len -= static_cast<std::size_t>(some);
    }
  }

  bool receive_some() { return udp_ ? receive_datagrams() : receive_stream(); }

  bool receive_datagrams() {
    constexpr std::size_t most = 32;
    std::array<mmsghdr, most> messages{};
    std::array<iovec, most> places{};
    for (std::size_t i = 0; i < most; ++i) {
      places[i] = {staging_.data() + i * packet_bytes, packet_bytes};
      messages[i].msg_hdr.msg_iov = &places[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    const int came = recvmmsg(file_, messages.data(), most, MSG_DONTWAIT, nullptr);
    for (int i = 0; i < came; ++i) take(staging_.data() + static_cast<std::size_t>(i) * packet_bytes);
    return came > 0;
  }

  bool receive_stream() {
    if (begin_ > 0) std::memmove(staging_.data(), staging_.data() + begin_, filled_ - begin_);
    filled_ -= begin_;
    begin_ = 0;
    const ssize_t size = recv(file_, staging_.data() + filled_, staging_.size() - filled_, MSG_DONTWAIT);
    if (size == 0) std::_Exit(0);  // the other end is through
    if (size < 0) return false;
    filled_ += static_cast<std::size_t>(size);
    for (; filled_ - begin_ >= header_bytes;) {
      Header header;
      std::memcpy(&header, staging_.data() + begin_, header_bytes);
      if (filled_ - begin_ < header_bytes + header.bytes) break;
      take(staging_.data() + begin_);
      begin_ += header_bytes + header.bytes;
    }
    return true;
  }

  void take(const std::byte* packet) {
    Header header;
    std::memcpy(&header, packet, header_bytes);
    if (header.kind == credit) freed_ += buffers / 2;
    if (header.kind == credit) return;
    if (header.kind != part) {
      ++came_[header.kind];
      return;
    }
    std::byte* const place = in_.data() + received_;
    if (eager_) {
      std::byte* const buffer = pool_.data() + used_++ % buffers * segment_bytes;
      std::memcpy(buffer, packet + header_bytes, header.bytes);
      std::memcpy(place, buffer, header.bytes);
    } else {
      std::memcpy(place, packet + header_bytes, header.bytes);
    }
    received_ += header.bytes;
    if (eager_ && used_ % (buffers / 2) == 0) tell_credit();
  }

  void tell_credit() {
    const Header header{credit, 0, {}};
    if (::send(file_, &header, header_bytes, MSG_NOSIGNAL) != header_bytes) give_up("send");
  }

  bool udp_, eager_;
  int file_;
  std::vector<std::byte> out_, in_, staging_, pool_;
  std::array<Header, batch> headers_{};
  std::array<iovec, 2 * batch> parts_{};
  std::size_t begin_ = 0, filled_ = 0, received_ = 0;
  std::uint64_t sent_ = 0, freed_ = 0, used_ = 0;
  std::array<int, 5> came_{};
};

// Two connected sockets.
std::array<int, 2> make_pair(bool udp) {
  const int kind = udp ? SOCK_DGRAM : SOCK_STREAM;
  std::array<int, 2> files{socket(AF_INET, kind, 0), socket(AF_INET, kind, 0)};
  std::array<sockaddr_in, 2> places{};
  socklen_t size = sizeof places[0];
  for (std::size_t i = 0; i < 2; ++i) {
    places[i].sin_family = AF_INET;
    places[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(files[i], reinterpret_cast<sockaddr*>(&places[i]), size) != 0) give_up("bind");
    getsockname(files[i], reinterpret_cast<sockaddr*>(&places[i]), &size);
  }
  if (!udp && listen(files[0], 1) != 0) give_up("listen");
  if (connect(files[1], reinterpret_cast<sockaddr*>(&places[0]), size) != 0) give_up("connect");
  if (udp && connect(files[0], reinterpret_cast<sockaddr*>(&places[1]), size) != 0) give_up("connect");
  if (!udp) files[0] = accept(files[0], nullptr, nullptr);
  const int yes = 1;
  if (!udp)
    for (const int file : files) setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string stack = argc > 2 ? argv[1] : "";
  if (stack != "tcp" && stack != "udp") {
    std::fputs("usage: peer_packets tcp|udp BYTES [SECONDS]\n", stderr);
    return 2;
  }
  const std::size_t bytes = std::strtoull(argv[2], nullptr, 10);
  const double limit = argc > 3 ? std::atof(argv[3]) : 1;
  const std::array<int, 2> files = make_pair(stack == "udp");
  const pid_t child = fork();
  close(files[child == 0 ? 0 : 1]);
  End own(stack == "udp", files[child == 0 ? 1 : 0], bytes);
  if (child == 0)
    for (;;) {
      own.receive();
      own.send();
    }
  std::vector<double> seconds;
  const int in_a_sample = bytes > longest_eager ? 1 : 20;
  for (const double begin = now(); now() - begin < limit || seconds.size() < 5;) {
    const double start = now();
    for (int i = 0; i < in_a_sample; ++i) {
      own.send();
      own.receive();
    }
    seconds.push_back((now() - start) / 2 / in_a_sample);
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  fmt::print("{}\n", seconds[seconds.size() / 2]);
  std::fflush(stdout);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::_Exit(0);
}
