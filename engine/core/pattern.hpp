// Message content: differs by whom it is from, which lane, which size and which repetition, and can be made again
// anywhere, so every received byte has one right value. Never constant, never zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plumb {

struct MessageIdentity {
  std::uint64_t seed = 1;
  std::uint64_t origin = 0;  // rank that made it
  std::uint64_t lane = 0;    // which of its messages in one exchange
  std::uint64_t size = 0;    // bytes
  std::uint64_t repetition = 0;
};

// Fills with the message's content. The first byte alone already differs between neighbouring ranks, lanes and
// repetitions, so that even a message of one byte tells them apart; the rest is a 64-bit hash of identity and position.
void fill_message(std::span<std::byte> bytes, const MessageIdentity& identity);

// Fills with the complement of that content: every byte that is not overwritten is wrong.
void poison_message(std::span<std::byte> bytes, const MessageIdentity& identity);

struct Difference {
  std::uint64_t wrong = 0;         // bytes
  std::uint64_t first_offset = 0;  // of the first wrong byte, when wrong > 0
  std::uint8_t is = 0;
  std::uint8_t should_be = 0;
};

// Compares every byte.
Difference compare_message(std::span<const std::byte> bytes, const MessageIdentity& identity);

// SplitMix64's finaliser (Steele, Lea, Flood 2014): a bijection of 64-bit words that passes for random.
constexpr std::uint64_t mix64(std::uint64_t word) {
  word += 0x9e3779b97f4a7c15ull;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
  return word ^ (word >> 31);
}

}  // namespace plumb
