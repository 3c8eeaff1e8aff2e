// The software engine of ACCL on N ranks: what it counts, its commands and its options.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "core/data.hpp"
#include "core/json.hpp"
#include "tests/engine/ranks_accl_fixture.hpp"
#include "world/collect.hpp"

namespace plumb::accl {
namespace {

class AcclTransports : public AcclFixture {
 protected:
  // Rounds of a shift around the ring; returns the counts on rank 0. Expects the right bytes.
  Json shift(EngineTransport& transport, std::size_t bytes, std::uint64_t rounds) {
    World& world = test_world();
    const auto id = [&](int rank) {
      return Provenance{1, static_cast<std::uint64_t>((rank + world.size()) % world.size()), 0, bytes, 1};
    };
    const auto out = device_->allocate(std::max<std::size_t>(1, bytes), {}),
               in = device_->allocate(std::max<std::size_t>(1, bytes), {});
    const std::span<std::byte> sent(out->host_pointer(), bytes), received(in->host_pointer(), bytes);
    fill_message(sent, id(world.rank()));
    poison_message(received, id(world.rank() - 1));
    const int right = (world.rank() + 1) % world.size(), left = (world.rank() + world.size() - 1) % world.size();
    const auto exchange =
        transport.compile({{{{{right, 0, {{out.get(), 0, bytes}}}}, {{left, 0, {{in.get(), 0, bytes}}}}}}, 1});
    transport.counted();
    exchange->run(0, rounds);
    EXPECT_EQ(compare_message(received, id(world.rank() - 1)).wrong, 0u) << bytes << " bytes";
    EXPECT_EQ(transport.problem(), "");
    return transport.counted();
  }
};

constexpr std::uint64_t rounds = 3;

// Packets of `bytes` in parts of at most `most`.
std::uint64_t parts_of(std::uint64_t bytes, std::uint64_t most) {
  return (bytes + most - 1) / most;
}

// Of a message in segments of receive buffers.
std::uint64_t eager_packets(std::uint64_t bytes, std::uint64_t buffer, std::uint64_t payload) {
  return bytes / buffer * parts_of(buffer, payload) +
         (bytes % buffer > 0 || bytes == 0 ? std::max<std::uint64_t>(1, parts_of(bytes % buffer, payload)) : 0);
}

void expect_counts(const Json& counts, double commands, double copies, std::uint64_t packets, std::uint64_t bytes) {
  if (test_world().rank() != 0) return;
  EXPECT_EQ(counts["messages"], rounds * static_cast<std::uint64_t>(test_world().size()));
  EXPECT_EQ(counts["commands_per_message"], commands) << bytes;
  EXPECT_EQ(counts["copies_per_message"], copies) << bytes;
  EXPECT_EQ(counts["packets_per_message"], static_cast<double>(packets)) << bytes;
  EXPECT_EQ(counts["bytes_per_message"], static_cast<double>(bytes + 64 * packets)) << bytes;
}

TEST_F(AcclTransports, CountTheTermsOfTheEquations) {
  for (const std::string name : {"accl-tcp", "accl-udp"}) {
    const auto transport = make(name, "host-buffered", {{"accl-packet", "512"}});
    for (const std::uint64_t bytes : {0u, 1u, 448u, 449u, 1000u, 1024u, 1025u, 20000u, 32768u, 32769u, 100000u}) {
      const bool eager = name == "accl-udp" || bytes <= 32768;
      // Eq. 5.1: 2 l_k + l_m + l_c; by rendezvous 2 l_k + l_c(64 B) + l_c(L), and its end.
      expect_counts(shift(*transport, bytes, rounds), 2, eager ? 1 : 0,
                    eager ? eager_packets(bytes, 1024, 448) : parts_of(bytes, 448) + 2, bytes);
    }
  }
}

// Stream out, buffer in: eq. 5.1's terms at any size.
TEST_F(AcclTransports, CountTheSameTermsIfOperandsAreStreams) {
  for (const std::string name : {"accl-tcp", "accl-udp"}) {
    const auto transport = make(name, "host-buffered", {{"accl-packet", "512"}, {"accl-operands", "streams"}});
    for (const std::uint64_t bytes : {0u, 1u, 448u, 1024u, 1025u, 32769u, 100000u})
      expect_counts(shift(*transport, bytes, rounds), 2, 1, eager_packets(bytes, 1024, 448), bytes);
  }
}

TEST_F(AcclTransports, CountOneCommandAndNoCopyOfAStream) {
  for (const std::string name : {"accl-tcp", "accl-udp"}) {
    const auto transport = make(name, "host-streaming", {});
    for (const std::uint64_t bytes : {1u, 1472u, 1473u, 100000u})
      expect_counts(shift(*transport, bytes, rounds), 1, 0, parts_of(bytes, 1472), bytes);
  }
}

TEST_F(AcclTransports, WorkWithFewAndSmallBuffersAndWithoutCredit) {
  const std::string ranks = std::to_string(test_world().size());
  for (const Options& options :
       {Options{{"accl-packet", "128"}, {"accl-buffers", ranks}, {"accl-buffer-size", "100"}},
        Options{{"accl-credit", "off"}, {"accl-buffers", "1"}}, Options{{"accl-preset", "hpcc-fpga"}},
        Options{{"accl-operands", "streams"}, {"accl-buffers", ranks}, {"accl-buffer-size", "128"}}})
    for (const std::string approach : {"host-buffered", "host-streaming"}) {
      if (options.contains("accl-operands") && approach == "host-streaming") continue;
      // Without credit a rank that is ahead may fill the buffers that another's message needs.
      if (options.contains("accl-credit") && test_world().size() > 2) continue;
      const auto transport = make("accl-tcp", approach, options);
      for (const std::uint64_t bytes : {1u, 20000u, 300000u}) shift(*transport, bytes, 2);
    }
}

TEST_F(AcclTransports, ExecuteCommands) {
  const auto transport = make("accl-tcp", "", {});
  Engine& engine = transport->engine();
  const auto status_of = [&](const Command& command) {
    Ticket ticket;
    engine.issue(command, ticket);
    while (ticket.open.load() > 0) engine.advance();
    return ticket.status.load();
  };
  std::array<char, 100> from{}, to{};
  std::strcpy(from.data(), "operand");
  Command command;
  EXPECT_EQ(status_of(command), status::done);
  EXPECT_EQ(engine.counts().nops, 1u);
  command = {Call::config, 512, 0, 0, static_cast<std::uint32_t>(Setting::eager_limit)};
  EXPECT_EQ(status_of(command), status::invalid_eager_limit) << "below a receive buffer";
  command.elements = 4096;
  EXPECT_EQ(status_of(command), status::done);
  command.function = 99;
  EXPECT_EQ(status_of(command), status::not_implemented);
  command = {};
  command.call = Call::send;
  command.peer = static_cast<std::uint32_t>(test_world().size());
  EXPECT_EQ(status_of(command), status::not_implemented) << "to nobody";
  command.peer = 0;
  command.elements = 1;
  command.streams = operand_is_stream;
  EXPECT_EQ(status_of(command), status::not_implemented) << "of a kernel that puts no words";
  command = {Call::combine, 2, 0, 0, 0, 0, static_cast<std::uint32_t>(Type::int8)};
  EXPECT_EQ(status_of(command), status::no_arithmetic) << "of bytes";
  command.compression = 1;
  EXPECT_EQ(status_of(command), status::no_compression);
  command.compression = 0;
  std::array<float, 2> left{1, 5}, right{2, 3}, result{};
  command.type = static_cast<std::uint32_t>(Type::float32);
  command.set_address(0, left.data());
  command.set_address(1, right.data());
  command.set_address(2, result.data());
  EXPECT_EQ(status_of(command), status::done);
  EXPECT_EQ(result, (std::array<float, 2>{3, 8}));
  command.function = static_cast<std::uint32_t>(Function::max);
  EXPECT_EQ(status_of(command), status::done);
  EXPECT_EQ(result, (std::array<float, 2>{2, 5}));
  command = {};
  command.call = Call::copy;
  command.elements = 100;
  command.set_address(0, from.data());
  command.set_address(2, to.data());
  EXPECT_EQ(status_of(command), status::done);
  EXPECT_EQ(to, from);
  command.streams = result_is_stream;
  command.function = 7;
  EXPECT_EQ(status_of(command), status::not_implemented) << "no kernel takes it";
  to = {};
  Ticket kernel;
  engine.read_stream(test_world().rank(), 7, reinterpret_cast<std::byte*>(to.data()), to.size(), kernel);
  EXPECT_EQ(status_of(command), status::done);
  EXPECT_EQ(kernel.open.load(), 0u);
  EXPECT_EQ(to, from);
  EXPECT_EQ(engine.counts().copies, 3u);
}

// Collectives of 64-bit sums in one engine, of messages by eager segments or by rendezvous.
class AcclCollectiveCalls : public AcclTransports {
 protected:
  // Elements that are wrong on any rank.
  std::uint64_t wrong(EngineTransport& transport, Call call, std::uint32_t elements) {
    World& world = test_world();
    const int ranks = world.size(), root = ranks - 1;
    std::vector<std::int64_t> operand(elements * static_cast<std::size_t>(ranks)), result(operand.size(), -1);
    for (std::size_t i = 0; i < operand.size(); ++i) operand[i] = value(world.rank(), i);
    Command command;
    command.call = call;
    command.elements = elements;
    command.peer = static_cast<std::uint32_t>(root);
    command.type = static_cast<std::uint32_t>(Type::int64);
    command.set_address(0, operand.data());
    command.set_address(2, result.data());
    Ticket ticket;
    transport.engine().issue(command, ticket);
    while (ticket.open.load() > 0) transport.engine().advance();
    std::uint64_t wrong = ticket.status.load() == status::done ? 0 : 1;
    const auto check = [&](std::size_t at, std::int64_t expected) {
      wrong += (call == Call::bcast ? operand : result)[at] == expected ? 0 : 1;
    };
    const std::size_t own = elements * static_cast<std::size_t>(world.rank());
    for (std::size_t i = 0; i < elements; ++i) {
      if (call == Call::bcast) check(i, value(root, i));
      if (call == Call::scatter) check(i, value(root, own + i));
      if (call == Call::reduce_scatter) check(i, sum(own + i));
      if (call == Call::allreduce || (call == Call::reduce && world.rank() == root)) check(i, sum(i));
      for (int from = 0; from < ranks; ++from) {
        const std::size_t at = elements * static_cast<std::size_t>(from) + i;
        if (call == Call::allgather || (call == Call::gather && world.rank() == root)) check(at, value(from, i));
        if (call == Call::alltoall) check(at, value(from, own + i));
      }
    }
    std::uint64_t all = 0;
    for (const std::uint64_t one : gather_values(world, wrong)) all += one;
    return broadcast_value(world, all);
  }

 private:
  static std::int64_t value(int rank, std::size_t index) {
    return static_cast<std::int64_t>(1000003 * (static_cast<std::size_t>(rank) + 1) + 31 * index);
  }
  static std::int64_t sum(std::size_t index) {
    std::int64_t sum = 0;
    for (int rank = 0; rank < test_world().size(); ++rank) sum += value(rank, index);
    return sum;
  }
};

constexpr std::uint32_t eager_elements = 100, rendezvous_elements = 5000;  // of 8 bytes; the limit is 32 KiB

TEST_F(AcclCollectiveCalls, GiveEachRankItsPart) {
  for (const std::string name : {"accl-tcp", "accl-udp"}) {
    const auto transport = make(name, "host-buffered", {});
    for (const std::uint32_t elements : {1u, eager_elements, rendezvous_elements})
      for (auto call = Call::bcast; call <= Call::alltoall;
           call = static_cast<Call>(static_cast<std::uint32_t>(call) + 1))
        EXPECT_EQ(wrong(*transport, call, elements), 0u)
            << name << ", call " << static_cast<int>(call) << " of " << elements << " elements";
    EXPECT_EQ(transport->problem(), "");
  }
}

// Leaves the last operand of a reduction out.
class MissesARank : public Engine {
  using Engine::Engine;
  void combine_parts(const Command& command, const Local& operands) override {
    if (++combinations_ % 2 == 0) return Engine::combine_parts(command, operands);
    std::memmove(operands.to, operands.left, static_cast<std::size_t>(operands.bytes));
  }
  std::uint64_t combinations_ = 0;
};

TEST_F(AcclCollectiveCalls, AreWrongWithARankMissingInAReduction) {
  if (test_world().size() < 2) GTEST_SKIP() << "one rank reduces nothing";
  Makers makers;
  makers.engine = [](int rank, int size, const Settings& settings, std::unique_ptr<Network> network,
                     std::uint32_t session) -> std::unique_ptr<Engine> {
    return std::make_unique<MissesARank>(rank, size, settings, std::move(network), session);
  };
  const TransportEntry entry = accl_entry("accl-tcp", makers);
  for (const Call call : {Call::reduce, Call::allreduce, Call::reduce_scatter})
    for (const std::uint32_t elements : {eager_elements, rendezvous_elements}) {
      const auto made = make(entry, "host-buffered", {});
      EXPECT_GT(wrong(*made, call, elements), 0u) << static_cast<int>(call);
    }
}

TEST_F(AcclTransports, EndCommandsWithOneThatClosedItsConnection) {
  if (test_world().size() < 2) GTEST_SKIP() << "another rank closes it";
  auto transport = make("accl-tcp", "", {});
  if (test_world().rank() == 0) {
    transport.reset();
    return;
  }
  std::array<char, 8> place{};
  Command command;
  command.call = Call::recv;
  command.elements = place.size();
  command.peer = 0;
  command.set_address(2, place.data());
  Ticket ticket;
  transport->engine().issue(command, ticket);
  while (ticket.open.load() > 0) transport->engine().advance();
  EXPECT_NE(ticket.status.load(), status::done);
}

TEST_F(AcclTransports, RefuseWishesThatCannotBe) {
  const auto refusal = [&](const std::string& name, const std::string& approach, const Options& options) {
    try {
      make(name, approach, options);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_NE(refusal("accl-tcp", "", {{"accl-packet", "1500"}}).find("a multiple of 64"), std::string::npos);
  EXPECT_NE(refusal("accl-tcp", "", {{"accl-eager-limit", "1000"}}).find("at least a receive buffer"),
            std::string::npos);
  EXPECT_NE(refusal("accl-udp", "", {{"accl-eager-limit", "4096"}}).find("no rendezvous"), std::string::npos);
  EXPECT_THROW(make("accl-udp", "device-streaming", {}), Unsupported);
  EXPECT_NE(refusal("accl-tcp", "", {{"accl-streams", "one"}}).find("of --approach host-streaming"), std::string::npos);
  if (test_world().size() > 1) {
    EXPECT_NE(refusal("accl-tcp", "", {{"accl-buffers", "1"}}).find("ranks"), std::string::npos);
  }
}

}  // namespace
}  // namespace plumb::accl
