// The software engine of ACCL on N ranks: what it counts, its commands and its options.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/data.hpp"
#include "core/json.hpp"
#include "device/select.hpp"
#include "tests/engine/ranks_fixture.hpp"
#include "transport/accl/accl.hpp"

namespace plumb::accl {
namespace {

using Options = std::map<std::string, std::string>;

class AcclTransports : public ::testing::Test {
 protected:
  AcclTransports() {
    const DeviceCatalogue catalogue;
    World& world = test_world();
    device_ =
        catalogue.open(catalogue.choose({"native", "", "", "native"}, world.rank(), world.size(), world.local_rank()));
  }

  std::unique_ptr<EngineTransport> make(const std::string& name, const std::string& approach, const Options& given) {
    TransportOptions options;
    for (const auto& [option, value] : given) options.find(option)->parse(value);
    auto made = find_transport(name).make(test_world(), *device_, {approach, &options});
    return std::unique_ptr<EngineTransport>(dynamic_cast<EngineTransport*>(made.release()));
  }

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

  std::unique_ptr<Device> device_;
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
        Options{{"accl-credit", "off"}, {"accl-buffers", "1"}}, Options{{"accl-preset", "hpcc-fpga"}}})
    for (const std::string approach : {"host-buffered", "host-streaming"}) {
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
  for (const Call call : {Call::config, Call::combine, Call::bcast, Call::alltoall}) {
    command.call = call;
    EXPECT_EQ(status_of(command), status::not_implemented);
  }
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
  EXPECT_NE(refusal("accl-udp", "device-streaming", {}).find("command stream"), std::string::npos);
  if (test_world().size() > 1) {
    EXPECT_NE(refusal("accl-tcp", "", {{"accl-buffers", "1"}}).find("ranks"), std::string::npos);
  }
}

}  // namespace
}  // namespace plumb::accl
