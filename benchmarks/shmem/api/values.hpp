// What the tests of the OpenSHMEM API move: typed values that differ by PE, repetition, slot and place, and can be made
// again anywhere, so that every element has one right value. Never constant.
#pragma once

#include <cstddef>
#include <cstdint>
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
T poison_of(std::uint64_t bits) {
  const T value = value_of<T>(bits);
  if constexpr (std::is_same_v<T, Wide>) {
    return {~value.low, ~value.high};
  } else if constexpr (std::is_floating_point_v<T>) {
    return -value;
  } else {
    return static_cast<T>(~value);
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
