#include "interpose/memory/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "interpose/memory/devices.hpp"

namespace plumb::interpose {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr AddressRange range{std::uintptr_t{1} << 40, std::size_t{1} << 30};

std::shared_ptr<DeviceMemory> memory() {
  return std::make_shared<DeviceMemory>();
}

std::byte* bytes(void* address) {
  return static_cast<std::byte*>(address);
}

TEST(AddressRegistry, FindsEachByteOfABuffer) {
  AddressRegistry registry(range);
  const auto one = memory(), other = memory();
  std::byte* first = bytes(registry.add(100, one));
  std::byte* second = bytes(registry.add(5000, other));
  EXPECT_EQ(registry.find(first, 0, 100).memory, one);
  EXPECT_EQ(registry.find(first + 99, 0, 1).offset, 99U);
  EXPECT_EQ(registry.find(second + 4999, 0, 1).memory, other);
  EXPECT_EQ(registry.find(second, 10, 20).offset, 10U);
  EXPECT_EQ(registry.find(second - 8, 8, 20).offset, 0U);  // a datatype's lower bound
  EXPECT_TRUE(range.has(reinterpret_cast<std::uintptr_t>(first - 4096)));
}

TEST(AddressRegistry, NamesWhatReachesPastTheEnd) {
  AddressRegistry registry(range);
  std::byte* address = bytes(registry.add(4096, memory()));
  const auto past = ThrowsMessage<Error>(AllOf(HasSubstr("exceed the device buffer of 4096 bytes")));
  EXPECT_THAT([&] { registry.find(address, 0, 4097); }, past);
  EXPECT_THAT([&] { registry.find(address + 4096, 0, 1); }, past);
  EXPECT_THAT([&] { registry.find(address + 1, -1, 4096); }, past);
}

TEST(AddressRegistry, RemembersWhatWasFreed) {
  AddressRegistry registry(range);
  std::byte* address = bytes(registry.add(64, memory()));
  registry.remove(address);
  EXPECT_THAT([&] { registry.find(address + 3, 0, 1); }, ThrowsMessage<Error>(HasSubstr("is freed")));
  EXPECT_THAT([&] { registry.remove(address); }, ThrowsMessage<Error>(HasSubstr("already freed")));
  EXPECT_NE(registry.add(64, memory()), address);
}

TEST(AddressRegistry, RefusesStrangeAddresses) {
  AddressRegistry registry(range);
  std::byte* address = bytes(registry.add(64, memory()));
  const auto none = ThrowsMessage<Error>(HasSubstr("no buffer there"));
  EXPECT_THAT([&] { registry.find(address - 1, 0, 1); }, none);
  EXPECT_THAT([&] { registry.find(address + 10 * AddressRegistry::gap, 0, 1); }, none);
  EXPECT_THAT([&] { registry.remove(address + 1); }, ThrowsMessage<Error>(HasSubstr("not from plumb_mpi_alloc")));
  EXPECT_THAT([&] { registry.add(0, memory()); }, ThrowsMessage<Error>(HasSubstr("at least one byte")));
}

TEST(AddressRegistry, FreesNothingThatIsInUse) {
  AddressRegistry registry(range);
  std::byte* address = bytes(registry.add(64, memory()));
  const Place used = registry.find(address, 0, 64);
  EXPECT_THAT([&] { registry.remove(address); }, ThrowsMessage<Error>(HasSubstr("an incomplete MPI call")));
}

TEST(AddressRegistry, GivesAddressesAgainWhenTheyAreUsedUp) {
  AddressRegistry registry(range);
  for (int i = 0; i < 1000; ++i) registry.remove(registry.add(range.size / 4, memory()));
  void* kept = registry.add(range.size / 4, memory());
  EXPECT_THAT([&] { registry.add(range.size / 2, memory()); }, ThrowsMessage<Error>(HasSubstr("used up")));
  EXPECT_EQ(registry.find(kept, 0, 1).offset, 0U);
}

TEST(AddressRegistry, GivesNoByteTwice) {
  AddressRegistry registry(range, 10);
  std::mt19937 random(1);
  std::map<std::byte*, std::size_t> live;
  for (int i = 0; i < 5000; ++i) {
    if (live.size() > 50) {
      const auto gone = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
      registry.remove(gone->first);
      live.erase(gone);
    }
    const std::size_t size = 1 + random() % 20000;
    std::byte* address = bytes(registry.add(size, memory()));
    const auto after = live.lower_bound(address);
    if (after != live.end()) {
      EXPECT_LT(address + size, after->first);
    }
    if (after != live.begin()) {
      EXPECT_GT(address, std::prev(after)->first + std::prev(after)->second);
    }
    live[address] = size;
  }
}

}  // namespace
}  // namespace plumb::interpose
