// What the tests of the OpenSHMEM API move: typed values that differ by PE, repetition, slot and place, and can be made
// again anywhere, so that every element has one right value. Never constant.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "core/pattern.hpp"

namespace plumb::shmem_api {

// 128 bits, which C++ has no type for.
struct Wide {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Wide&) const = default;
};

// Who made a value, and for what.
struct Origin {
  std::uint64_t seed = 1;
  int pe = 0;
  std::uint64_t lane = 0;  // which of its runs of values: a slot, a thread, a receiver
  std::uint64_t repetition = 0;

  std::uint64_t key() const {
    const std::uint64_t who = mix64(seed ^ (static_cast<std::uint64_t>(pe) << 32));
    return mix64(mix64(who ^ lane) ^ repetition);
  }
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

// What stands where nothing has been put yet: no value that value_of() gives at the same place.
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

// Elements [first, first + size) of the endless run of values that a key names; several small ones take their bytes
// from one random word, for messages are long.
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
T value_at(const Origin& origin, std::size_t index) {
  return value_of<T>(mix64(origin.key() + index));
}

template <class T>
void fill(std::span<T> values, const Origin& origin) {
  const std::uint64_t key = origin.key();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of<T>(mix64(key + i));
}

template <class T>
void poison(std::span<T> values, const Origin& origin) {
  const std::uint64_t key = origin.key();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = poison_of<T>(mix64(key + i));
}

}  // namespace plumb::shmem_api
