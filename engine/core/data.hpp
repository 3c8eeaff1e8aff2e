// Test data: its origin (Provenance), contents and poison. Contents are a hash of origin and position, so any rank can
// compute them again and each byte has one right value: never constant, never zero, different for each rank, lane, size
// and repetition.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace plumb {

// SplitMix64's finaliser (Steele, Lea, Flood 2014): a bijection of 64-bit words that passes for random.
constexpr std::uint64_t mix64(std::uint64_t word) {
  word += 0x9e3779b97f4a7c15ull;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
  return word ^ (word >> 31);
}

struct Provenance {
  std::uint64_t seed = 1;
  std::uint64_t rank = 0;  // the rank that generates the data
  std::uint64_t lane = 0;  // index of the data within the rank: message of an exchange, matrix, replication, slot
  std::uint64_t size = 0;  // bytes, where data of several sizes is generated
  std::uint64_t repetition = 0;

  constexpr std::uint64_t key() const {
    std::uint64_t key = mix64(seed);
    for (const std::uint64_t part : {rank, lane, size, repetition}) key = mix64(key ^ part);
    return key;
  }
};

// Poison byte for data without a complement: NaN in every floating-point type, the maximum of unsigned types.
inline constexpr std::byte poison_byte{0xff};

// Poison byte of fresh device memory: a finite number in every type. A sum with poison is poison, bit for bit, so a
// kernel that reads past the end of its operands leaves poison past the end of its result.
inline constexpr std::byte fresh_byte{0xa5};

// --- messages, byte by byte

// Fills with the message's content. The first byte alone differs between neighbouring ranks, lanes and repetitions, so
// messages of one byte are distinguishable; the other bytes are a 64-bit hash of origin and position.
void fill_message(std::span<std::byte> bytes, const Provenance& provenance);

// Fills with the complement of that content: a byte that is not overwritten is wrong.
void poison_message(std::span<std::byte> bytes, const Provenance& provenance);

struct Difference {
  std::uint64_t wrong = 0;         // bytes
  std::uint64_t first_offset = 0;  // of the first wrong byte, when wrong > 0
  std::uint8_t is = 0;
  std::uint8_t should_be = 0;
};

// Compares every byte.
Difference compare_message(std::span<const std::byte> bytes, const Provenance& provenance);

// --- typed values

// A 128-bit value; C++ has no standard type of this size.
struct Wide {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Wide&) const = default;
};

// A value of T from 64 random bits: any integer, or a positive number that T holds exactly.
template <class T>
T value_of(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, Wide>) {
    return {bits, mix64(bits)};
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>((bits >> 41) + 1);  // 23 bits
  } else {
    return static_cast<T>(bits);
  }
}

// Poison: differs from value_of() at the same position.
template <class T>
T poison_instead_of(T value) {
  if constexpr (std::is_same_v<T, Wide>) {
    return {~value.low, ~value.high};
  } else if constexpr (std::is_floating_point_v<T>) {
    return -value;
  } else {
    return static_cast<T>(~value);
  }
}
template <class T>
T poison_of(std::uint64_t bits) {
  return poison_instead_of(value_of<T>(bits));
}

// Elements [first, first + size) of the endless sequence defined by a key. Small elements share a random word, for
// speed.
template <class T>
void generate(std::span<T> values, std::uint64_t key, std::size_t first) {
  if constexpr (std::is_same_v<T, Wide> || std::is_floating_point_v<T> || sizeof(T) >= sizeof(std::uint64_t)) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of<T>(mix64(key + first + i));
  } else {
    constexpr std::size_t in_word = sizeof(std::uint64_t) / sizeof(T);
    const auto bytes_of_word = [&](std::size_t i, std::size_t some) {
      const std::uint64_t word = mix64(key + (first + i) / in_word);
      const std::size_t at = (first + i) % in_word * sizeof(T);
      std::memcpy(&values[i], reinterpret_cast<const char*>(&word) + at, some * sizeof(T));
    };
    std::size_t i = std::min((in_word - first % in_word) % in_word, values.size());
    if (i > 0) bytes_of_word(0, i);
    for (std::uint64_t at = key + (first + i) / in_word; i + in_word <= values.size(); i += in_word, ++at) {
      const std::uint64_t word = mix64(at);
      std::memcpy(&values[i], &word, sizeof word);
    }
    if (i < values.size()) bytes_of_word(i, values.size() - i);
  }
}

template <class T>
void fill_values(std::span<T> values, const Provenance& provenance) {
  const std::uint64_t key = provenance.key();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of<T>(mix64(key + i));
}

template <class T>
void poison_values(std::span<T> values, const Provenance& provenance) {
  const std::uint64_t key = provenance.key();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = poison_of<T>(mix64(key + i));
}

}  // namespace plumb
