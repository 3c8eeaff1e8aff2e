// Typed forms of the world's byte-wise calls.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "world/world.hpp"

namespace plumb {

template <class T>
requires std::is_trivially_copyable_v<T> T broadcast_value(World& world, T value, int root = 0) {
  world.broadcast(std::as_writable_bytes(std::span(&value, 1)), root);
  return value;
}

// One value from each rank, in rank order, on the root; elsewhere empty.
template <class T>
requires std::is_trivially_copyable_v<T> std::vector<T> gather_values(World& world, const T& value, int root = 0) {
  const auto parts = world.gather(std::as_bytes(std::span(&value, 1)), root);
  std::vector<T> values(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) std::memcpy(&values[i], parts[i].data(), sizeof(T));
  return values;
}

std::vector<std::string> gather_texts(World& world, const std::string& text, int root = 0);
std::string broadcast_text(World& world, const std::string& text, int root = 0);
// Each rank's text, in rank order, on every rank.
std::vector<std::string> all_texts(World& world, const std::string& text);

// The first non-empty text in rank order, on every rank ("" if all are empty): agreement on a failure.
struct AgreedText {
  int rank = -1;
  std::string text;
};
AgreedText first_text(World& world, const std::string& text);

}  // namespace plumb
