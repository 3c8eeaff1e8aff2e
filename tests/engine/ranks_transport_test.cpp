// Transports on N ranks: every transport that works here, on every device, moves the right bytes in every pattern.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "core/data.hpp"
#include "device/select.hpp"
#include "tests/engine/ranks_fixture.hpp"
#include "tests/mutants/compiling_once.hpp"
#include "transport/patterns/all_to_all.hpp"
#include "transport/patterns/reduction.hpp"
#include "transport/patterns/torus.hpp"
#include "transport/port.hpp"
#include "transport/staged.hpp"
#include "transport/transport.hpp"
#include "world/collect.hpp"
#include "world/team.hpp"

namespace plumb {
namespace {

struct Setting {
  std::string transport, runtime;
  std::string approach = {};
  std::string through = {};
};
void PrintTo(const Setting& setting, std::ostream* out) {
  *out << setting.transport << " on " << setting.runtime;
}

class Transports : public ::testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    const DeviceCatalogue catalogue;
    if (!catalogue.why_none(GetParam().runtime).empty()) GTEST_SKIP() << catalogue.why_none(GetParam().runtime);
    World& world = test_world();
    const std::string unfit = find_transport(GetParam().transport).reason(world);
    if (!unfit.empty()) GTEST_SKIP() << unfit;
    device_ = mutants::compiling_once(catalogue.open(catalogue.choose({GetParam().runtime, "", "", GetParam().runtime},
                                                                      world.rank(), world.size(), world.local_rank())));
    const TransportEntry& entry = find_transport(GetParam().transport);
    const std::string refused = entry.device_reason ? entry.device_reason(device_->info()) : "";
    if (!refused.empty()) GTEST_SKIP() << refused;
    try {
      TransportOptions options;
      options.find("pipeline-chunk")->parse("8");
      options.find("pipeline-depth")->parse("3");
      if (!GetParam().through.empty()) options.find("pipeline-through")->parse(GetParam().through);
      transport_ = entry.make(world, *device_, {GetParam().approach, &options});
    } catch (const Unsupported& reason) {
      GTEST_SKIP() << reason.what();
    }
    placement_.shared = entry.shares_buffers;
    queue_ = device_->make_queue();
  }

  std::unique_ptr<Buffer> filled(const Provenance& id, bool right) {
    auto buffer = device_->allocate(id.size, placement_);
    std::vector<std::byte> bytes(id.size);
    if (right)
      fill_message(bytes, id);
    else
      poison_message(bytes, id);
    queue_->write(bytes.data(), whole(*buffer));
    return buffer;
  }

  std::uint64_t wrong_bytes(Buffer& buffer, const Provenance& id) {
    std::vector<std::byte> bytes(id.size);
    poison_message(bytes, id);
    queue_->read(whole(buffer), bytes.data());
    return compare_message(bytes, id).wrong;
  }

  int right() const { return (test_world().rank() + 1) % test_world().size(); }
  int left() const { return (test_world().rank() + test_world().size() - 1) % test_world().size(); }
  std::uint64_t id(int rank) const { return static_cast<std::uint64_t>(rank); }

  Placement placement_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Queue> queue_;
};

TEST_P(Transports, RingShiftAtManySizes) {
  for (const std::uint64_t size : {1u, 3u, 4096u, 65537u, 1u << 20}) {
    const Provenance mine{1, id(test_world().rank()), 0, size, 1}, theirs{1, id(left()), 0, size, 1};
    auto out = filled(mine, true), in = filled(theirs, false);
    const auto exchange = transport_->compile({{{{{right(), 0, {whole(*out)}}}, {{left(), 0, {whole(*in)}}}}}, 1});
    exchange->run(0, 1);
    EXPECT_EQ(wrong_bytes(*in, theirs), 0u) << size;
    EXPECT_EQ(wrong_bytes(*out, mine), 0u) << "what was sent must stay";
  }
}

// A ring of the team's places; other ranks do not take part.
void shift_in(Team& team, const std::function<void(int right, int left)>& shift) {
  if (!team.is_member()) return;
  shift((team.rank() + 1) % team.size(), (team.rank() + team.size() - 1) % team.size());
}

TEST_P(Transports, MembersOfATeamExchangeAloneAndInItsOrder) {
  World& world = test_world();
  if (transport_->info().name == "channel") {
    const auto all = world.team({0});
    if (all->is_member()) {
      EXPECT_THROW(transport_->compile({{{{}, {}}}, 1}, *all), Unsupported);
    }
    return;
  }
  std::vector<int> some(static_cast<std::size_t>(std::max(1, world.size() - 1)));  // all but rank 0, from the last on
  std::iota(some.rbegin(), some.rend(), world.size() > 1 ? 1 : 0);
  std::vector<int> row;  // of a grid of two columns: each rank its own
  for (int rank = world.rank() % 2; rank < world.size(); rank += 2) row.push_back(rank);
  for (const std::vector<int>& ranks : {some, row}) {
    const auto team = world.team(ranks);
    for (const std::uint64_t size : {3u, 65537u})
      shift_in(*team, [&](int right, int left) {
        const int from = team->ranks()[static_cast<std::size_t>(left)];
        const Provenance mine{1, id(world.rank()), 0, size, 1}, theirs{1, id(from), 0, size, 1};
        auto out = filled(mine, true), in = filled(theirs, false);
        const auto exchange =
            transport_->compile({{{{{right, 0, {whole(*out)}}}, {{left, 0, {whole(*in)}}}}}, 1}, *team);
        exchange->run(0, 1);
        EXPECT_EQ(wrong_bytes(*in, theirs), 0u) << size;
      });
  }
}

TEST_P(Transports, RefusesExchangesThatATeamCannotHave) {
  World& world = test_world();
  EXPECT_THROW(world.team({}), Error);
  EXPECT_THROW(world.team({0, 0}), Error);
  const auto team = world.team({0});
  auto buffer = filled({1, id(0), 0, 8, 1}, true);
  if (!team->is_member()) {
    EXPECT_THROW(transport_->compile(Exchange{}, *team), Error);
    return;
  }
  for (const int place : {-1, 1})
    EXPECT_THROW(transport_->compile({{{{{place, 0, {whole(*buffer)}}}, {}}}, 1}, *team), Error) << place;
}

// Round i sends the message of round i - 1 on to the right, each from its own slot.
class SlidingSlots {
 public:
  SlidingSlots(Device& device, const Placement& placement, std::size_t size, std::uint64_t rounds)
      : rounds_(rounds),
        pitch_(size + rounds / areas * stride),
        buffer_(device.allocate(areas * pitch_, placement)),
        slots_{{buffer_.get(), 0, size}, areas, pitch_, stride} {}
  Exchange exchange(int right, int left) const {
    Slots received = slots_;
    received.first = 1;
    return {{{{{right, 0, slots_}}, {{left, 0, received}}}}, 1};
  }
  Buffer& buffer() const { return *buffer_; }
  // Slot of the message that has gone round `hops` ranks, and its bytes that nothing overwrites.
  BufferView slot(std::uint64_t hops) const {
    BufferView view = slots_.at(hops);
    if (hops + areas <= rounds_) view.size = std::min(view.size, stride);
    return view;
  }

 private:
  static constexpr std::uint64_t areas = 3;
  static constexpr std::size_t stride = 64;
  std::uint64_t rounds_;
  std::size_t pitch_;
  std::unique_ptr<Buffer> buffer_;
  Slots slots_;
};

TEST_P(Transports, EachRoundLeavesItsMessageInASlotOfItsOwn) {
  for (const std::uint64_t size : {3u, 1000u})
    for (const std::uint64_t rounds : {1u, 7u, 20u}) {
      const int ranks = test_world().size();
      const SlidingSlots slots(*device_, placement_, size, rounds);
      const auto message = [&](std::uint64_t hops) {
        const int back = static_cast<int>(hops % static_cast<std::uint64_t>(ranks));
        return Provenance{1, id((test_world().rank() + ranks - back) % ranks), 0, size, 1};
      };
      const std::vector<std::byte> wrong(slots.buffer().size(), std::byte{0});
      queue_->write(wrong.data(), whole(slots.buffer()));
      std::vector<std::byte> bytes(size);
      fill_message(bytes, message(0));
      queue_->write(bytes.data(), {&slots.buffer(), 0, size});
      const auto exchange = transport_->compile(slots.exchange(right(), left()));
      exchange->run(0, (rounds + 1) / 2);
      if (rounds > 1) exchange->run((rounds + 1) / 2, rounds / 2);  // a run continues after the previous one
      for (std::uint64_t hops = 1; hops <= rounds; ++hops) {
        const BufferView slot = slots.slot(hops);
        poison_message(std::span(bytes).first(slot.size), message(hops));
        queue_->read(slot, bytes.data());
        EXPECT_EQ(compare_message(std::span(bytes).first(slot.size), message(hops)).wrong, 0u)
            << "round " << hops << " of " << rounds << ", " << size << " bytes";
      }
    }
}

// Two lanes in opposite directions; messages change in size without recompilation.
TEST_P(Transports, SizesAreSetBeforeAStart) {
  constexpr std::size_t most = 70001;
  const auto size_of_lane = [](std::size_t size, int lane) { return lane == 0 ? size : size / 2; };
  const std::uint64_t me = id(test_world().rank());
  auto out = filled({1, me, 0, most, 1}, true), in = filled({1, me, 0, most, 1}, false),
       other = filled({1, me, 0, most, 1}, false);
  const auto exchange = transport_->compile({{{{{right(), 0, {whole(*out)}}, {left(), 1, {whole(*out)}}},
                                               {{left(), 0, {whole(*in)}}, {right(), 1, {whole(*other)}}}}},
                                             1});
  for (const std::size_t size : {std::size_t{5}, most, std::size_t{0}, std::size_t{40000}, std::size_t{1}, most}) {
    const std::vector<std::size_t> sizes{size_of_lane(size, 0), size_of_lane(size, 1)};
    const std::vector<std::byte> before(most, std::byte{0x5a});
    for (Buffer* buffer : {in.get(), other.get()}) queue_->write(before.data(), whole(*buffer));
    exchange->set_sizes({{sizes, sizes}});
    exchange->run(0, 2);
    for (const int lane : {0, 1}) {
      std::vector<std::byte> expected(most), found(most);
      fill_message(expected, {1, id(lane == 0 ? left() : right()), 0, most, 1});
      std::fill(expected.begin() + static_cast<std::ptrdiff_t>(size_of_lane(size, lane)), expected.end(),
                std::byte{0x5a});
      queue_->read(whole(lane == 0 ? *in : *other), found.data());
      EXPECT_TRUE(found == expected) << size << " bytes, lane " << lane;
    }
  }
  EXPECT_THROW(exchange->set_sizes({{{most + 1, 1}, {most, 1}}}), Error);
  EXPECT_THROW(exchange->set_sizes({{{most}, {most, 1}}}), Error);
}

// Writes `value` into all words, after enough work that a reader that does not wait finds the old ones.
KernelSource slow_fill() {
  const char* const text =
      "__kernel void slow_fill(__global uint* to, uint count, uint value, uint spins) {\n"
      "  uint state = value;\n"
      "  for (uint i = 0; i < spins; ++i) state = state * 1664525u + 1013904223u + to[i % count];\n"
      "  for (uint i = 0; i < count; ++i) to[i] = state == 12345u ? value + 1 : value;\n"
      "}\n";
  KernelSource source{"slow_fill.cl", text, "", {}};
  source.native = {{"slow_fill", [](std::span<const KernelArgument> a, const KernelRange&) {
                      auto* to = reinterpret_cast<std::uint32_t*>(std::get<const Buffer*>(a[0])->host_pointer());
                      std::fill_n(const_cast<std::uint32_t*>(to), std::get<std::uint32_t>(a[1]),
                                  std::get<std::uint32_t>(a[2]));
                    }}};
  return source;
}

// A kernel writes the sent words, and another queue copies the received ones: the host waits for neither.
TEST_P(Transports, StartsAfterAQueueAndPrecedesAnother) {
  constexpr std::uint32_t words = 20000, spins = 3000000;
  constexpr std::size_t size = words * sizeof(std::uint32_t);
  const bool has_kernels = device_->info().has(Feature::channels) == false;
  if (!has_kernels) GTEST_SKIP() << "an emulated FPGA compiles for seconds";
  auto out = device_->allocate(size, placement_), in = device_->allocate(size, placement_),
       copy = device_->allocate(size, placement_);
  const auto program = device_->build(slow_fill());
  const auto kernel = program->kernel("slow_fill");
  const auto later = device_->make_queue();
  const auto exchange = transport_->compile({{{{{right(), 0, {whole(*out)}}}, {{left(), 0, {whole(*in)}}}}}, 1});
  for (std::uint32_t turn = 1; turn <= 3; ++turn) {
    kernel->set({out.get(), words, 100 * turn + static_cast<std::uint32_t>(test_world().rank()), spins});
    queue_->enqueue(*kernel, {1, 1});
    exchange->start_after(*queue_, 0, 1);
    exchange->precede(*later);
    later->enqueue_copy(whole(*in), whole(*copy));
    exchange->wait();
    std::vector<std::uint32_t> found(words);
    later->read(whole(*copy), reinterpret_cast<std::byte*>(found.data()));
    const std::uint32_t expected = 100 * turn + static_cast<std::uint32_t>(left());
    EXPECT_EQ(std::count(found.begin(), found.end(), expected), words) << "turn " << turn << ", found " << found[0];
    queue_->finish();
    test_world().barrier();  // no new message while another rank still copies
  }
}

// Each rank increments the first word of a received message, and sends it on: the word counts the ranks passed.
TEST_P(Transports, AKernelOfItsOwnRunsAllRoundsThroughThePort) {
  constexpr std::uint64_t rounds = 9, words = 40;
  const auto memory = device_->allocate((rounds + 1) * words * sizeof(std::uint32_t), placement_);
  std::vector<std::uint32_t> begin((rounds + 1) * words, 7);
  std::iota(begin.begin(), begin.begin() + words, 1000 * static_cast<std::uint32_t>(test_world().rank()));
  queue_->write(reinterpret_cast<std::byte*>(begin.data()), whole(*memory));
  const Slots out{{memory.get(), 0, words * sizeof(std::uint32_t)}, rounds + 1, words * sizeof(std::uint32_t)};
  Slots in = out;
  in.first = 1;
  const Exchange exchange{{{{{right(), 0, out}}, {{left(), 0, in}}}}, 1};
  const KernelSource source{"hops.cl",
                            "PORT_KERNEL(hops)(ulong first, ulong count, __global uint* memory, ulong words, PORT) {\n"
                            "  PORT_OPEN;\n"
                            "  for (ulong i = 0; i < count; ++i) {\n"
                            "    PORT_SEND(i);\n"
                            "    PORT_RECEIVE(i);\n"
                            "    if (PORT_COMPUTES && get_global_id(0) == 0) memory[(first + i + 1) * words] += 1;\n"
                            "  }\n"
                            "  PORT_CLOSE;\n"
                            "}\n"};
  std::unique_ptr<Port> port;
  try {
    port = transport_->open_port(exchange, source, "hops");
  } catch (const Unsupported& refusal) {
    EXPECT_EQ(std::string(refusal.what()).find("transport " + GetParam().transport), 0u) << refusal.what();
    EXPECT_NE(std::string(refusal.what()).find("has no port"), std::string::npos) << refusal.what();
    EXPECT_NE(approach(transport_->info()), "device-streaming");
    return;
  }
  EXPECT_EQ(approach(transport_->info()), "device-streaming");
  for (const auto& [first, count] : {std::pair{std::uint64_t{0}, std::uint64_t{4}}, {4, rounds - 4}}) {
    port->start(first, count, [&, first = first, count = count](int) {
      return std::vector<KernelArgument>{first, count, memory.get(), words};
    });
    port->finish();
  }
  EXPECT_THROW(port->start(0, 1000, [](int) { return std::vector<KernelArgument>{}; }), Error);
  std::vector<std::uint32_t> found(begin.size());
  queue_->read(whole(*memory), reinterpret_cast<std::byte*>(found.data()));
  const int ranks = test_world().size();
  for (std::uint32_t hops = 1; hops <= rounds; ++hops) {
    const auto from =
        static_cast<std::uint32_t>((test_world().rank() + ranks - static_cast<int>(hops) % ranks) % ranks);
    EXPECT_EQ(found[hops * words], 1000 * from + hops);
    EXPECT_EQ(found[hops * words + words - 1], 1000 * from + words - 1);
  }
}

TEST_P(Transports, RefusesRoundsForWhichThereIsNoRoom) {
  const SlidingSlots slots(*device_, placement_, 100, 9);
  const auto exchange = transport_->compile(slots.exchange(right(), left()));
  EXPECT_THROW(exchange->start(0, 1000), Error);
  EXPECT_THROW(exchange->start(1000, 1), Error);
  exchange->run(0, 9);
}

// Ranks begin and end them in one order, but which of them gets on first is left to chance.
TEST_P(Transports, TwoExchangesUnderWayTogether) {
  constexpr std::uint64_t size = 5000, rounds = 4;
  std::vector<std::unique_ptr<Buffer>> out, in;
  std::vector<std::unique_ptr<CompiledExchange>> exchanges;
  const auto message = [&](int rank, std::uint64_t lane) { return Provenance{1, id(rank), lane, size, 1}; };
  for (std::uint64_t lane = 0; lane < 2; ++lane) {
    out.push_back(filled(message(test_world().rank(), lane), true));
    in.push_back(filled(message(left(), lane), false));
    const int number = static_cast<int>(lane);
    exchanges.push_back(transport_->compile(
        {{{{{right(), number, {whole(*out.back())}}}, {{left(), number, {whole(*in.back())}}}}}, 1}));
  }
  for (const auto& exchange : exchanges) exchange->start(0, rounds);
  for (bool all = false; !all;) {
    all = true;
    for (const auto& exchange : exchanges) all = exchange->test() && all;
  }
  for (std::uint64_t lane = 0; lane < 2; ++lane)
    EXPECT_EQ(wrong_bytes(*in[lane], message(left(), lane)), 0u) << "lane " << lane;
}

TEST_P(Transports, TestCompletesWithoutWaiting) {
  constexpr std::uint64_t size = 10000;
  const Provenance mine{1, id(test_world().rank()), 0, size, 1}, theirs{1, id(left()), 0, size, 1};
  auto out = filled(mine, true), in = filled(theirs, false);
  const auto exchange = transport_->compile({{{{{right(), 0, {whole(*out)}}}, {{left(), 0, {whole(*in)}}}}}, 1});
  exchange->start(0, 5);
  while (!exchange->test()) {
  }
  EXPECT_EQ(wrong_bytes(*in, theirs), 0u);
  EXPECT_TRUE(exchange->test());
}

TEST_P(Transports, WindowOfMessagesUnderWayTogether) {
  constexpr std::uint64_t size = 300, window = 16;
  const Slots sent{{nullptr, 0, size}, window, size};
  const auto of_window = [&](int rank, std::uint64_t i) { return Provenance{1, id(rank), i, size, 1}; };
  std::vector<std::byte> mine(window * size), theirs(window * size);
  for (std::uint64_t i = 0; i < window; ++i) {
    fill_message(std::span(mine).subspan(i * size, size), of_window(test_world().rank(), i));
    poison_message(std::span(theirs).subspan(i * size, size), of_window(left(), i));
  }
  auto out = device_->allocate(mine.size(), placement_), in = device_->allocate(theirs.size(), placement_);
  queue_->write(mine.data(), whole(*out));
  queue_->write(theirs.data(), whole(*in));
  Slots from = sent, to = sent;
  from.view.buffer = out.get();
  to.view.buffer = in.get();
  const auto exchange = transport_->compile({{{{{right(), 0, from}}, {{left(), 0, to}}}}, window});
  exchange->run(0, 3 * window);
  queue_->read(whole(*in), theirs.data());
  for (std::uint64_t i = 0; i < window; ++i)
    EXPECT_EQ(compare_message(std::span(theirs).subspan(i * size, size), of_window(left(), i)).wrong, 0u) << i;
}

TEST_P(Transports, StepsFollowOneAnother) {
  if (test_world().size() % 2 != 0) GTEST_SKIP() << "pairs need an even number of ranks";
  constexpr std::uint64_t size = 777;
  const bool pings = test_world().rank() % 2 == 0;
  const int partner = pings ? right() : left();
  const Provenance message{1, id(pings ? test_world().rank() : partner), 0, size, 1};
  auto a = filled(message, pings), b = filled(message, false);
  // The first rank sends its own and receives it elsewhere; the other returns the received one.
  const std::vector<Transfer> ours{{partner, 0, {whole(*a)}}}, other{{partner, 0, {whole(*b)}}};
  const Exchange pattern = pings ? Exchange{{{ours, {}}, {{}, other}}, 1} : Exchange{{{{}, other}, {other, {}}}, 1};
  const auto exchange = transport_->compile(pattern);
  exchange->run(0, 3);
  EXPECT_EQ(wrong_bytes(*b, message), 0u);
}

TEST_P(Transports, TorusBroadcastsAlongRowsAndColumns) {
  constexpr std::uint64_t size = 5001;
  const int rows = test_world().size() % 2 == 0 ? 2 : 1, columns = test_world().size() / rows;
  const Torus torus(rows, columns, test_world());
  for (const bool along_row : {true, false}) {
    const int root = (along_row ? columns : rows) - 1;
    const int source = along_row ? torus.at(torus.row(), root) : torus.at(root, torus.column());
    const Provenance message{1, id(source), 0, size, 1};
    auto buffer = filled(message, source == test_world().rank());
    const auto exchange = transport_->compile(along_row ? torus.row_broadcast(whole(*buffer), root)
                                                        : torus.column_broadcast(whole(*buffer), root));
    exchange->run(0, 3);
    EXPECT_EQ(wrong_bytes(*buffer, message), 0u) << (along_row ? "row" : "column");
  }
}

TEST_P(Transports, AllToAll) {
  const auto ranks = static_cast<std::size_t>(test_world().size());
  for (const std::uint64_t size : {5u, 40000u}) {
    std::vector<std::unique_ptr<Buffer>> out, in;
    std::vector<BufferView> to, from;
    const auto message = [&](int sender, int receiver) { return Provenance{1, id(sender), id(receiver), size, 1}; };
    for (int rank = 0; rank < test_world().size(); ++rank) {
      to.push_back(whole(*out.emplace_back(filled(message(test_world().rank(), rank), true))));
      from.push_back(whole(*in.emplace_back(filled(message(rank, test_world().rank()), false))));
    }
    const auto exchange = transport_->compile(all_to_all(to, from, test_world()));
    exchange->run(0, 2);
    for (std::size_t rank = 0; rank < ranks; ++rank)
      EXPECT_EQ(wrong_bytes(*in[rank], message(static_cast<int>(rank), test_world().rank())), 0u) << rank;
  }
}

template <class T>
NumberType number_type() {
  if (std::is_same_v<T, std::int32_t>) return NumberType::int32;
  if (std::is_same_v<T, std::int64_t>) return NumberType::int64;
  return std::is_same_v<T, float> ? NumberType::f32 : NumberType::f64;
}

// Content of rank `rank` at `i`: whole numbers, whose sums do not depend on the order.
template <class T>
T number_of(int rank, std::size_t i) {
  return static_cast<T>(static_cast<int>((i * 7 + static_cast<std::size_t>(rank) * 13) % 101) - 50);
}

class Reductions : public Transports {
 protected:
  // Twice in a row over the ranks of this one's row, from numbers in the midst of a buffer.
  template <class T>
  void reduces(std::size_t count, Operation operation, T (*both)(T, T)) {
    const int rows = test_world().size() % 2 == 0 ? 2 : 1, columns = test_world().size() / rows;
    const Torus torus(rows, columns, test_world());
    Reduction reduction{{}, {}, number_type<T>(), operation, 3};
    for (int column = 0; column < columns; ++column) reduction.members.push_back(torus.at(torus.row(), column));
    std::vector<T> own(count), expected(count);
    for (std::size_t i = 0; i < count; ++i) {
      own[i] = number_of<T>(test_world().rank(), i);
      expected[i] = number_of<T>(reduction.members[0], i);
      for (std::size_t k = 1; k < reduction.members.size(); ++k)
        expected[i] = both(expected[i], number_of<T>(reduction.members[k], i));
    }
    const std::vector<T> once = expected;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t k = 1; k < reduction.members.size(); ++k) expected[i] = both(expected[i], once[i]);
    constexpr std::size_t before = 5, after = 3;
    std::vector<T> bytes(before + count + after, T{77});
    std::copy(own.begin(), own.end(), bytes.begin() + before);
    auto buffer = device_->allocate(bytes.size() * sizeof(T), placement_);
    queue_->write(reinterpret_cast<std::byte*>(bytes.data()), whole(*buffer));
    reduction.view = {buffer.get(), before * sizeof(T), count * sizeof(T)};
    const auto exchange = compile_reduction(reduction, test_world(), *device_, *transport_);
    exchange->run(0, 1);
    exchange->start(1, 1);
    while (!exchange->test()) {
    }
    queue_->read(whole(*buffer), reinterpret_cast<std::byte*>(bytes.data()));
    EXPECT_EQ(std::vector<T>(bytes.begin() + before, bytes.end() - after), expected) << count;
    EXPECT_EQ(std::count(bytes.begin(), bytes.begin() + before, T{77}), static_cast<int>(before));
    EXPECT_EQ(std::count(bytes.end() - after, bytes.end(), T{77}), static_cast<int>(after));
  }
};

TEST_P(Reductions, OfEveryTypeAndOperation) {
  const auto sum = [](auto a, auto b) { return a + b; };
  reduces<std::int32_t>(1000, Operation::sum, sum);
  reduces<std::int64_t>(1, Operation::maximum, [](auto a, auto b) { return std::max(a, b); });
  reduces<float>(2, Operation::minimum, [](auto a, auto b) { return std::min(a, b); });
  reduces<float>(70001, Operation::sum, sum);
  if (device_->info().runtime != "opencl" || device_->info().has(Feature::fp64))
    reduces<double>(333, Operation::sum, sum);
}

TEST_P(Transports, ExchangesOfManyPatternsLiveTogether) {
  constexpr std::uint64_t size = 100;
  const Provenance mine{1, id(test_world().rank()), 0, size, 1};
  const Provenance of_left{1, id(left()), 0, size, 1}, of_right{1, id(right()), 0, size, 1};
  auto out = filled(mine, true), in = filled(of_left, false), back = filled(of_right, false);
  const auto rightward = transport_->compile({{{{{right(), 0, {whole(*out)}}}, {{left(), 0, {whole(*in)}}}}}, 1});
  const auto leftward = transport_->compile({{{{{left(), 0, {whole(*out)}}}, {{right(), 0, {whole(*back)}}}}}, 1});
  const auto again = transport_->compile({{{{{right(), 0, {whole(*out)}}}, {{left(), 0, {whole(*in)}}}}}, 1});
  for (CompiledExchange* exchange : {rightward.get(), leftward.get(), again.get(), rightward.get()})
    exchange->run(0, 2);
  EXPECT_EQ(wrong_bytes(*in, of_left), 0u);
  EXPECT_EQ(wrong_bytes(*back, of_right), 0u);
}

TEST_P(Transports, RefusesWhatIsNotWellFormed) {
  auto buffer = device_->allocate(64, {});
  EXPECT_THROW(transport_->compile({{{{{test_world().size(), 0, {whole(*buffer)}}}, {}}}, 1}), Error);
  Slots none{whole(*buffer)}, overlapping{{buffer.get(), 0, 8}, 2, 4}, beyond{{buffer.get(), 0, 8}, 9, 8};
  none.areas = 0;
  for (const Slots& slots : {none, overlapping, beyond})
    EXPECT_THROW(transport_->compile({{{{{0, 0, slots}}, {}}}, 1}), Error);
  EXPECT_THROW(transport_->compile({{{{{0, 0, {{buffer.get(), 60, 8}}}}, {}}}, 1}), Error);
  EXPECT_THROW(transport_->compile({{}, 0}), Error);
}

// Those that the program of this world has.
std::vector<Setting> settings() {
  std::vector<Setting> all{{"mpi", "native"},
                           {"shmem", "native"},
                           {"staged", "native"},
                           {"staged", "opencl"},
                           {"pipelined", "native"},
                           {"pipelined", "opencl"},
                           {"local", "native"},
                           {"accl-tcp", "native"},
                           {"accl-tcp", "native", "host-streaming"},
                           {"accl-tcp", "opencl"},
                           {"accl-udp", "native"},
                           {"accl-udp", "native", "host-streaming"},
                           {"peer", "opencl", "host-buffered"},
                           {"peer", "opencl", "device-buffered"},
                           {"peer", "opencl", "device-streaming"},
                           {"channel", "opencl"},
                           {"channel", "opencl", "device-streaming", "world"},
                           {"peer", "cuda", "host-buffered"},
                           {"peer", "cuda", "device-buffered"},
                           {"peer", "cuda", "device-streaming"},
                           {"staged", "cuda"},
                           {"pipelined", "cuda"},
                           {"nccl", "cuda"},
                           {"mpi-device", "cuda"}};
  std::erase_if(all,
                [](const Setting& one) { return Registry<TransportEntry>::instance().find(one.transport) == nullptr; });
  return all;
}

// By itself, unlike the transports above, whose pieces are given.
TEST(PipelinedTransport, ChoosesPiecesAlikeOnAllRanks) {
  const DeviceCatalogue catalogue;
  World& world = test_world();
  const auto device =
      catalogue.open(catalogue.choose({"native", "", "", "native"}, world.rank(), world.size(), world.local_rank()));
  const auto transport = find_transport("pipelined").make(world, *device, {});
  const Json facts = transport->facts();
  const std::vector<std::string> all = all_texts(world, facts.dump());
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 1u);
  EXPECT_GE(facts.at("measured_to_bytes"), 16384);
  std::size_t from = 0, piece = 0;
  std::string through = "segment";
  for (const Json& choice : facts.at("pieces")) {
    const bool first = &choice == &facts.at("pieces").front();
    if (first) {
      EXPECT_EQ(choice.at("from_bytes"), 0u) << "there is a choice for each size";
      EXPECT_EQ(choice.at("piece_bytes"), 0u) << "the shortest messages are staged";
    } else {
      EXPECT_GT(choice.at("from_bytes"), from);
      EXPECT_TRUE(choice.at("piece_bytes") != piece || choice.at("through") != through) << choice;
      EXPECT_LE(choice.at("piece_bytes"), 2 * choice.at("from_bytes").get<std::size_t>()) << choice;
    }
    from = choice.at("from_bytes");
    piece = choice.at("piece_bytes");
    through = choice.at("through");
  }
  EXPECT_LE(from, facts.at("measured_to_bytes"));
}

TEST(ChannelTransport, NamesTheLinkThatIsMissing) {
  const DeviceCatalogue catalogue;
  if (!catalogue.why_none("opencl").empty()) GTEST_SKIP() << catalogue.why_none("opencl");
  World& world = test_world();
  if (world.size() < 2) GTEST_SKIP() << "a link needs two ranks";
  const auto device =
      catalogue.open(catalogue.choose({"opencl", "", "", "opencl"}, world.rank(), world.size(), world.local_rank()));
  const TransportEntry& entry = find_transport("channel");
  if (const std::string refused = entry.device_reason(device->info()); !refused.empty()) GTEST_SKIP() << refused;
  const auto transport = entry.make(world, *device, {});
  const auto buffer = device->allocate(64, {});
  Exchange exchange{{Step{}}, 1};
  if (world.rank() == 0) exchange.steps[0].sends.push_back({1, 3, {whole(*buffer)}});
  try {
    transport->compile(exchange);
    ADD_FAILURE() << "it was compiled";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "a link is missing: rank 0 sends to rank 1 on lane 3, but rank 1 receives nothing from there");
  }
}

std::string setting_name(const ::testing::TestParamInfo<Setting>& info) {
  std::string name = info.param.transport + "_" + info.param.runtime + "_" + info.param.approach + info.param.through;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Reductions, ::testing::ValuesIn(settings()), setting_name);
INSTANTIATE_TEST_SUITE_P(All, Transports, ::testing::ValuesIn(settings()), setting_name);

}  // namespace
}  // namespace plumb
