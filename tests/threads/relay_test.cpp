// The way of a link between two hosts, both ends in this process: pipes, threads and connections as in a run.
#include "transport/channel/relay.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <future>
#include <numeric>
#include <thread>

namespace plumb::channel {
namespace {

struct Pipe {
  Pipe() { EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int out() const { return ends[0]; }
  int in() const { return ends[1]; }
  std::array<int, 2> ends{};
};

std::vector<unsigned char> numbers(std::size_t size, unsigned seed) {
  std::vector<unsigned char> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>((i * 131 + seed) >> 3);
  return bytes;
}

void write_all(int file, const std::vector<unsigned char>& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t size = write(file, bytes.data() + done, bytes.size() - done);
    ASSERT_GT(size, 0);
    done += static_cast<std::size_t>(size);
  }
}

std::vector<unsigned char> read_all(int file, std::size_t size) {
  std::vector<unsigned char> bytes(size);
  for (std::size_t done = 0; done < size;) {
    const ssize_t got = read(file, bytes.data() + done, size - done);
    if (got <= 0) return {};
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

// A link's connections, from the other end.
std::vector<Descriptor> all_connected(const ListeningSocket& listener) {
  std::vector<Descriptor> connections;
  for (std::size_t i = 0; i < channels_of_link; ++i)
    connections.push_back(connected(relay_user, listener.offer(), i, true));
  return connections;
}

// Both ends of a link.
struct Link {
  explicit Link(std::uint16_t port = 0) : listener(relay_user, port) {
    auto sender = std::async(std::launch::async, [this] { return all_connected(listener); });
    arriving = listener.accepted(channels_of_link);
    leaving = sender.get();
  }
  ListeningSocket listener;
  std::vector<Descriptor> arriving, leaving;  // a connection a channel
};

std::uint16_t port_of(const ListeningSocket& listener) {
  const std::string offer = listener.offer();
  return static_cast<std::uint16_t>(std::stoi(offer.substr(offer.find(' '))));
}

TEST(Relay, PassesOnEveryByteOfBothChannels) {
  constexpr std::size_t size = 3 << 20;  // more than pipes and sockets hold
  Link link;
  std::array<Pipe, channels_of_link> here, there;
  std::vector<std::unique_ptr<Relay>> relays;
  for (std::size_t i = 0; i < channels_of_link; ++i) {
    relays.push_back(std::make_unique<Relay>(here[i].out(), std::move(link.leaving[i]), true));
    relays.push_back(std::make_unique<Relay>(there[i].in(), std::move(link.arriving[i]), false));
  }
  std::vector<std::jthread> writers;
  std::vector<std::future<std::vector<unsigned char>>> readers;
  for (unsigned i = 0; i < channels_of_link; ++i) {
    writers.emplace_back([&here, i] { write_all(here[i].in(), numbers(size, i)); });
    readers.push_back(std::async(std::launch::async, [&there, i] { return read_all(there[i].out(), size); }));
  }
  for (unsigned i = 0; i < channels_of_link; ++i) EXPECT_TRUE(readers[i].get() == numbers(size, i)) << i;
}

TEST(Relay, WhatWasWrittenBeforeItEndsArrives) {
  Link link;
  Pipe here, there;
  Relay arriving(there.in(), std::move(link.arriving[0]), false);
  {
    Relay leaving(here.out(), std::move(link.leaving[0]), true);
    write_all(here.in(), numbers(40000, 5));
  }
  EXPECT_TRUE(read_all(there.out(), 40000) == numbers(40000, 5));
}

TEST(Relay, AStrangerDoesNotJoin) {
  ListeningSocket listener(relay_user, 0);
  const auto stranger = [&] {
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_of(listener));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(file, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const std::array<std::uint64_t, 2> hello{1, 0};
    EXPECT_EQ(send(file, hello.data(), sizeof hello, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof hello));
    return file;
  };
  const int file = stranger();
  auto sender = std::async(std::launch::async, [&] { return all_connected(listener); });
  EXPECT_EQ(listener.accepted(channels_of_link).size(), channels_of_link);
  EXPECT_EQ(sender.get().size(), channels_of_link);
  close(file);
}

TEST(Relay, NamesAPortThatIsTaken) {
  const ListeningSocket first(relay_user, 0);
  try {
    const ListeningSocket second(relay_user, port_of(first));
    ADD_FAILURE() << "it took a port twice";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("port " + std::to_string(port_of(first)) + " of this host"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("--relay-port"));
  }
}

TEST(Relay, APortMayBeUsedAgainAtOnce) {
  std::uint16_t port = 0;
  {
    const Link link;
    port = port_of(link.listener);
  }
  EXPECT_EQ(Link(port).arriving.size(), channels_of_link);
}

}  // namespace
}  // namespace plumb::channel
