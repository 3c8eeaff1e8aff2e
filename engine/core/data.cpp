#include "core/data.hpp"

#include <algorithm>
#include <cstring>

namespace plumb {

namespace {

// Odd multipliers whose small sums and differences are not multiples of 256, so neighbours in any one index differ.
std::uint8_t first_byte(const Provenance& id) {
  return static_cast<std::uint8_t>(id.seed + 7 * id.rank + 101 * id.lane + 29 * id.repetition + 31 * id.size);
}

std::uint64_t word_at(std::uint64_t key, std::size_t index, std::uint8_t first) {
  const std::uint64_t word = mix64(key + index);
  return index == 0 ? (word & ~std::uint64_t{0xff}) | first : word;
}

void write_message(std::span<std::byte> bytes, const Provenance& provenance, std::uint64_t flip) {
  const std::uint64_t key = provenance.key();
  const std::uint8_t first = first_byte(provenance);
  for (std::size_t at = 0, index = 0; at < bytes.size(); at += 8, ++index) {
    const std::uint64_t word = word_at(key, index, first) ^ flip;
    std::memcpy(bytes.data() + at, &word, std::min<std::size_t>(8, bytes.size() - at));
  }
}

}  // namespace

void fill_message(std::span<std::byte> bytes, const Provenance& provenance) {
  write_message(bytes, provenance, 0);
}

void poison_message(std::span<std::byte> bytes, const Provenance& provenance) {
  write_message(bytes, provenance, ~std::uint64_t{0});
}

Difference compare_message(std::span<const std::byte> bytes, const Provenance& provenance) {
  const std::uint64_t key = provenance.key();
  const std::uint8_t first = first_byte(provenance);
  Difference difference;
  for (std::size_t at = 0, index = 0; at < bytes.size(); at += 8, ++index) {
    const std::size_t length = std::min<std::size_t>(8, bytes.size() - at);
    const std::uint64_t word = word_at(key, index, first);
    std::uint64_t got = word;
    std::memcpy(&got, bytes.data() + at, length);
    if (got == word) continue;
    for (std::size_t b = 0; b < length; ++b) {
      const auto is = static_cast<std::uint8_t>(got >> (8 * b));
      const auto should = static_cast<std::uint8_t>(word >> (8 * b));
      if (is == should) continue;
      if (difference.wrong++ == 0) {
        difference.first_offset = at + b;
        difference.is = is;
        difference.should_be = should;
      }
    }
  }
  return difference;
}

}  // namespace plumb
