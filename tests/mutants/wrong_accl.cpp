// Engines of ACCL made wrong on purpose, and networks that lose, double and swap packets, which a right engine must
// see.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tests/mutants/mutants.hpp"
#include "transport/accl/accl.hpp"

namespace plumb::mutants {

namespace {

using accl::Header;
using accl::Kind;

// A packet that waits.
struct HeldPacket {
  Header header;
  std::vector<std::byte> payload;
};
HeldPacket held_packet(const Header& header, const std::byte* payload) {
  return {header, std::vector<std::byte>(payload, payload + header.bytes)};
}

// Of messages that are not written to an address.
bool is_part(const Header& header) {
  return header.kind == Kind::eager || header.kind == Kind::stream;
}

// Stands between a network and its engine.
class Wire : public accl::Sink {
 public:
  bool take(const Header& header, const std::byte* payload) final { return pass(header, payload); }
  void closed(int peer) final { engine_->closed(peer); }
  void lead_to(accl::Sink& engine) { engine_ = &engine; }

 protected:
  virtual bool pass(const Header& header, const std::byte* payload) = 0;
  bool give(const Header& header, const std::byte* payload) { return engine_->take(header, payload); }

 private:
  accl::Sink* engine_ = nullptr;
};

// A network that passes all on.
class WrappedNetwork : public accl::Network {
 public:
  explicit WrappedNetwork(std::unique_ptr<accl::Network> real) : real_(std::move(real)) {}
  std::size_t send(int peer, std::span<const accl::Packet> packets) override { return real_->send(peer, packets); }
  void abandon(int peer, const accl::Packet& next) override { real_->abandon(peer, next); }
  bool receive(accl::Sink& sink) override { return real_->receive(sink); }
  void wait(int milliseconds, std::span<const int> others) override { real_->wait(milliseconds, others); }
  bool is_reliable() const override { return real_->is_reliable(); }
  std::uint32_t window() const override { return real_->window(); }

 private:
  std::unique_ptr<accl::Network> real_;
};

class WiredNetwork : public WrappedNetwork {
 public:
  WiredNetwork(std::unique_ptr<accl::Network> real, std::unique_ptr<Wire> wire)
      : WrappedNetwork(std::move(real)), wire_(std::move(wire)) {}
  bool receive(accl::Sink& sink) override {
    wire_->lead_to(sink);
    return WrappedNetwork::receive(*wire_);
  }

 private:
  std::unique_ptr<Wire> wire_;
};

// After the first packets nothing is received for a while, in which the socket's memory fills.
class StallingNetwork : public WrappedNetwork {
  using WrappedNetwork::WrappedNetwork;
  using Clock = std::chrono::steady_clock;

 public:
  bool receive(accl::Sink& sink) override {
    if (is_stalled()) return false;
    const bool came = WrappedNetwork::receive(sink);
    if (came && !until_) until_ = Clock::now() + std::chrono::seconds(1);
    return came;
  }
  void wait(int milliseconds, std::span<const int> others) override {
    if (!is_stalled()) return WrappedNetwork::wait(milliseconds, others);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }

 private:
  bool is_stalled() const { return until_ && Clock::now() < *until_; }
  std::optional<Clock::time_point> until_;
};

// Makes the sequence numbers of what it passes right, as an engine would see them that ignores them.
class Renumbering : public Wire {
 public:
  explicit Renumbering(bool renumbers) : renumbers_(renumbers) {}

 protected:
  bool give_next(Header header, const std::byte* payload) {
    if (session_ != header.session) next_.clear();
    session_ = header.session;
    next_.resize(std::max<std::size_t>(next_.size(), header.source + 1));
    if (renumbers_) header.sequence = next_[header.source];
    const bool taken = give(header, payload);
    if (taken) ++next_[header.source];
    return taken;
  }
  bool renumbers() const { return renumbers_; }
  bool is_due(const Header& header) { return is_part(header) && ++parts_ % 5 == 0; }

 private:
  bool renumbers_;
  std::uint32_t session_ = 0;
  std::uint64_t parts_ = 0;
  std::vector<std::uint32_t> next_;  // by source
};

class Losing : public Renumbering {
  using Renumbering::Renumbering;
  bool pass(const Header& header, const std::byte* payload) override {
    return is_due(header) || give_next(header, payload);
  }
};

class Doubling : public Renumbering {
  using Renumbering::Renumbering;
  bool pass(const Header& header, const std::byte* payload) override {
    if (!give_next(header, payload)) return false;
    if (is_due(header)) give_next(header, payload);
    return true;
  }
};

// The first packet of a message comes after its second one.
class Swapping : public Renumbering {
  using Renumbering::Renumbering;
  bool pass(const Header& header, const std::byte* payload) override {
    if (held_) {
      const HeldPacket first = *std::exchange(held_, std::nullopt);
      const bool swap = is_part(header) && header.source == first.header.source;
      if (swap) {
        std::uint64_t& seen = seen_[header.source];
        seen = (seen + header.bytes) % header.length;
        give_next(header, payload);
      }
      give_next(first.header, first.payload.data());
      return swap || give_next(header, payload);
    }
    if (!is_part(header)) return give_next(header, payload);
    seen_.resize(std::max<std::size_t>(seen_.size(), header.source + 1));
    std::uint64_t& seen = seen_[header.source];  // bytes of the message
    if (seen == 0 && header.length > header.bytes) {
      seen = header.bytes;
      held_ = held_packet(header, payload);
      return true;
    }
    seen = (seen + header.bytes) % std::max<std::uint64_t>(1, header.length);
    return give_next(header, payload);
  }
  std::optional<HeldPacket> held_;
  std::vector<std::uint64_t> seen_;  // by source
};

// The end of a rendezvous comes before its last part.
class EndingEarly : public Wire {
  bool pass(const Header& header, const std::byte* payload) override {
    if (held_) {
      HeldPacket part = *std::exchange(held_, std::nullopt);
      if (header.kind == Kind::done) {
        Header end = header;
        std::swap(end.sequence, part.header.sequence);
        give(end, nullptr);
        return give(part.header, part.payload.data());
      }
      give(part.header, part.payload.data());
    }
    if (header.kind != Kind::write) return give(header, payload);
    held_ = held_packet(header, payload);
    return true;
  }
  std::optional<HeldPacket> held_;
};

// What a packet's last word holds besides whole words is lost.
class WholeWords : public Wire {
  bool pass(const Header& header, const std::byte* payload) override {
    HeldPacket packet = held_packet(header, payload);
    const std::size_t whole = header.bytes / accl::header_bytes * accl::header_bytes;
    std::fill(packet.payload.begin() + static_cast<std::ptrdiff_t>(whole), packet.payload.end(), std::byte{0});
    return give(header, packet.payload.data());
  }
};

// The streams of two kernels are exchanged.
class CrossedStreams : public Wire {
  bool pass(const Header& header, const std::byte* payload) override {
    Header crossed = header;
    if (header.kind == Kind::stream) crossed.stream ^= 1;
    return give(crossed, payload);
  }
};

class TagIgnored : public accl::Engine {
  using Engine::Engine;
  bool matches(const Receive&, const Segment&) const override { return true; }
};

// What is received goes to another kernel.
class CrossedResults : public accl::Engine {
  using Engine::Engine;
  std::uint32_t result_stream(std::uint32_t number) const override { return number ^ 1; }
};

class UncheckedEnd : public accl::Engine {
  using Engine::Engine;
  bool is_written(const Receive&) const override { return true; }
};

// A buffer is free for the next segment while its own is not copied yet.
class FreedEarly : public accl::Engine {
  using Engine::Engine;
  void copy_out(std::uint32_t buffer, std::byte* to, std::size_t bytes) override {
    if (due_to_ != nullptr && due_to_ + due_bytes_ == to) std::memcpy(due_to_, place_of(due_), due_bytes_);
    due_ = buffer;
    due_to_ = to;
    due_bytes_ = bytes;
    Engine::copy_out(buffer, to, 0);
  }
  std::uint32_t due_ = 0;
  std::byte* due_to_ = nullptr;
  std::size_t due_bytes_ = 0;
};

template <class Made, class... Arguments>
accl::Makers over(Arguments... arguments) {
  accl::Makers makers;
  makers.network = [arguments...](std::unique_ptr<accl::Network> real) {
    return std::make_unique<WiredNetwork>(std::move(real), std::make_unique<Made>(arguments...));
  };
  return makers;
}

accl::Makers stalling() {
  accl::Makers makers;
  makers.network = [](std::unique_ptr<accl::Network> real) {
    return std::make_unique<StallingNetwork>(std::move(real));
  };
  return makers;
}

template <class Made>
accl::Makers with(accl::Makers makers = {}) {
  makers.engine = [](int rank, int size, const accl::Settings& settings, std::unique_ptr<accl::Network> network,
                     std::uint32_t session) {
    return std::make_unique<Made>(rank, size, settings, std::move(network), session);
  };
  return makers;
}

void register_engine(const std::string& name, const std::string& base, const accl::Makers& makers) {
  TransportEntry entry = accl::accl_entry(base, makers);
  Registry<TransportEntry>::instance().add(name + "-" + base, entry);
}

}  // namespace

void register_wrong_engines() {
  for (const char* base : {"accl-udp", "accl-tcp"}) {
    register_engine("faulty-lost", base, over<Losing>(false));
    register_engine("faulty-doubled", base, over<Doubling>(false));
    register_engine("faulty-swapped", base, over<Swapping>(false));
    register_engine("wrong-sequence-ignored", base, over<Swapping>(true));
    register_engine("wrong-last-word", base, over<WholeWords>());
    register_engine("wrong-stream", base, over<CrossedStreams>());
    register_engine("wrong-freed-early", base, with<FreedEarly>());
    register_engine("wrong-result", base, with<CrossedResults>());
  }
  register_engine("faulty-stalling", "accl-udp", stalling());
  register_engine("wrong-doubled-taken", "accl-tcp", over<Doubling>(true));
  register_engine("wrong-tag-ignored", "accl-tcp", with<TagIgnored>());
  register_engine("faulty-early-end", "accl-tcp", over<EndingEarly>());
  register_engine("wrong-early-end", "accl-tcp", with<UncheckedEnd>(over<EndingEarly>()));
}

}  // namespace plumb::mutants
