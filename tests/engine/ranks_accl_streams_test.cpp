// One stream for all ranks and lanes, and accounts that get lost, on N ranks.
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/data.hpp"
#include "core/json.hpp"
#include "tests/engine/ranks_accl_fixture.hpp"

namespace plumb::accl {
namespace {

class AcclStreams : public AcclFixture {
 protected:
  const Options one_stream{{"accl-streams", "one"}};

  static int to_the(int side) {
    const World& world = test_world();
    return (world.rank() + side + world.size()) % world.size();
  }
  static Provenance id(int rank) { return {2, static_cast<std::uint64_t>(rank), 0, 1, 1}; }
  std::unique_ptr<Buffer> poisoned(std::size_t bytes) const {
    auto made = device_->allocate(bytes, {});
    poison_message({made->host_pointer(), bytes}, id(test_world().size()));
    return made;
  }
  std::unique_ptr<Buffer> message(std::size_t bytes) const {
    auto made = device_->allocate(bytes, {});
    fill_message({made->host_pointer(), bytes}, id(test_world().rank()));
    return made;
  }
  // Bytes that are not those of a rank's message.
  static std::uint64_t wrong(const Buffer& buffer, int from) {
    return compare_message({buffer.host_pointer(), buffer.size()}, id(from)).wrong;
  }

  // All other ranks put a message to rank 0, which reads when two of them are interleaved in its one stream; returns
  // the wrong bytes there.
  std::uint64_t put_into_rank_0(EngineTransport& transport, std::size_t bytes) {
    World& world = test_world();
    const auto out = message(bytes);
    std::vector<std::unique_ptr<Buffer>> in;
    Step step;
    if (world.rank() > 0) step.sends.push_back({0, 3, {{out.get(), 0, bytes}}});
    for (int from = 1; from < world.size() && world.rank() == 0; ++from)
      step.receives.push_back({from, 3, {{in.emplace_back(poisoned(bytes)).get(), 0, bytes}}});
    const auto exchange = transport.compile({{step}});
    const bool interleaves = world.rank() == 0 && world.size() > 2 && transport.facts()["streams"] == "one";
    const std::uint64_t before = transport.engine().counts().interleaved;
    world.barrier();
    while (interleaves && transport.engine().counts().interleaved == before) transport.engine().advance();
    exchange->run(0, 1);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < in.size(); ++i) sum += wrong(*in[i], static_cast<int>(i) + 1);
    return sum;
  }

  // Exchanges of b_eff's form, two in flight, started again at once; returns the wrong bytes on this rank.
  std::uint64_t exchange_again_and_again(EngineTransport& transport, std::size_t bytes, int times) {
    const auto out = message(bytes);
    std::vector<std::unique_ptr<Buffer>> in;
    // A step's message to each side, in lanes of their own.
    const auto message_to = [&](Step& step, int side, int lane) {
      step.sends.push_back({to_the(side), lane, {{out.get(), 0, bytes}}});
      step.receives.push_back({to_the(-side), lane, {{in.emplace_back(poisoned(bytes)).get(), 0, bytes}}});
    };
    Step right, left, both;
    message_to(right, 1, 0);
    message_to(left, -1, 1);
    message_to(both, 1, 2);
    message_to(both, -1, 3);
    const auto one = transport.compile({{right, left}}), other = transport.compile({{both}});
    std::uint64_t sum = 0;
    for (int time = 0; time < times; ++time) {
      one->start(0, 2);
      other->start(0, 2);
      other->wait();
      one->wait();
      for (std::size_t i = 0; i < in.size(); ++i) {
        sum += wrong(*in[i], to_the(i % 2 == 0 ? -1 : 1));
        poison_message({in[i]->host_pointer(), bytes}, id(test_world().size()));
      }
    }
    return sum;
  }
};

constexpr std::size_t packet_payload = 1536 - header_bytes;  // of a packet, bytes
// More than a sender may have under way: 256 over TCP; over UDP those for which a socket of 8 MiB has room, 768 of 2
// ranks.
constexpr std::size_t more_than_a_window = 800 * packet_payload;
constexpr std::size_t with_part_of_a_packet = 300 * 1000 + 1;

TEST_F(AcclStreams, AreSortedIfSeveralSendersShareOne) {
  for (const std::string name : {"accl-tcp", "accl-udp"}) {
    const auto transport = make(name, "host-streaming", one_stream);
    for (const std::size_t bytes : {more_than_a_window, more_than_a_window + 1}) {
      EXPECT_EQ(put_into_rank_0(*transport, bytes), 0u) << name;
      EXPECT_EQ(transport->problem(), "");
      const Json counts = transport->counted();
      if (test_world().rank() != 0 || test_world().size() < 2) continue;
      EXPECT_EQ(counts["interleaved_packets"] > 0, test_world().size() > 2) << name;
    }
  }
}

TEST_F(AcclStreams, CarryExchangesThatAreStartedAgain) {
  for (const std::string name : {"accl-tcp", "accl-udp"})
    for (const Options& options : {one_stream, Options()}) {
      const auto transport = make(name, "host-streaming", options);
      EXPECT_EQ(exchange_again_and_again(*transport, 1000, 100), 0u) << name;
      EXPECT_EQ(exchange_again_and_again(*transport, with_part_of_a_packet, 10), 0u) << name;
      EXPECT_EQ(transport->problem(), "");
    }
}

// A kernel that takes what comes for the oldest message that has begun in its one stream.
class OldestFirst : public Engine {
  using Engine::Engine;
  Header header_of(const std::byte* words) override {
    Header came = Engine::header_of(words);
    std::uint64_t& left = left_[{came.source, came.tag}];
    if (left == 0) begun_.push_back({came, left = came.length});
    left -= came.bytes;
    auto& [oldest, missing] = begun_.front();
    came.source = oldest.source;
    came.tag = oldest.tag;
    missing -= std::min<std::uint64_t>(missing, came.bytes);
    if (missing == 0) begun_.pop_front();
    return came;
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> left_;
  std::deque<std::pair<Header, std::uint64_t>> begun_;
};

TEST_F(AcclStreams, AreWrongIfAKernelDoesNotSortThem) {
  Makers makers;
  makers.engine = [](int rank, int size, const Settings& settings, std::unique_ptr<Network> network,
                     std::uint32_t session) -> std::unique_ptr<Engine> {
    return std::make_unique<OldestFirst>(rank, size, settings, std::move(network), session);
  };
  for (const std::string name : {"accl-tcp", "accl-udp"}) {
    const auto transport = make(accl_entry(name, makers), "host-streaming", one_stream);
    const std::uint64_t bytes = put_into_rank_0(*transport, more_than_a_window);
    EXPECT_EQ(bytes > 0, test_world().rank() == 0 && test_world().size() > 2) << name;
    EXPECT_EQ(transport->problem(), "");
  }
}

// Loses each packet with new accounts and nothing else.
class LosesAccounts : public Network, private Sink {
 public:
  explicit LosesAccounts(std::unique_ptr<Network> real) : real_(std::move(real)) {}
  std::size_t send(int peer, std::span<const Packet> packets) override { return real_->send(peer, packets); }
  void abandon(int peer, const Packet& next) override { real_->abandon(peer, next); }
  bool receive(Sink& sink) override {
    engine_ = &sink;
    return real_->receive(*this);
  }
  void wait(int milliseconds, std::span<const int> others) override { real_->wait(milliseconds, others); }
  bool is_reliable() const override { return real_->is_reliable(); }
  std::uint32_t window() const override { return real_->window(); }

 private:
  bool take(const Header& header, const std::byte* bytes) override {
    const std::pair accounts{header.freed, header.taken};
    const bool is_new = std::exchange(known_[{header.session, header.source}], accounts) != accounts;
    return (is_new && header.kind == Kind::credit) || engine_->take(header, bytes);
  }
  void closed(int peer) override { engine_->closed(peer); }

  std::unique_ptr<Network> real_;
  Sink* engine_ = nullptr;
  using Two = std::pair<std::uint32_t, std::uint32_t>;
  std::map<Two, Two> known_;  // accounts by session and source
};

// A sender that waits for room learns of it by nothing else.
TEST_F(AcclStreams, LearnThatAccountsGotLost) {
  Makers makers;
  makers.network = [](std::unique_ptr<Network> real) { return std::make_unique<LosesAccounts>(std::move(real)); };
  for (const std::string approach : {"host-streaming", "host-buffered"}) {
    const auto transport = make(accl_entry("accl-udp", makers), approach, {});
    put_into_rank_0(*transport, more_than_a_window);
    const bool one_sends = test_world().size() > 1;
    EXPECT_EQ(transport->problem().find("packets missing from rank") != std::string::npos, one_sends) << approach;
  }
}

}  // namespace
}  // namespace plumb::accl
