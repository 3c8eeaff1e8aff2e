#include "transport/trade.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

namespace plumb {

namespace {

void send_text(World& world, const std::string& text, int to) {
  const std::uint64_t size = text.size();
  world.send(std::as_bytes(std::span(&size, 1)), to);
  world.send(std::as_bytes(std::span(text)), to);
}

std::string receive_text(World& world, int from) {
  std::uint64_t size = 0;
  world.receive(std::as_writable_bytes(std::span(&size, 1)), from);
  std::string text(size, '\0');
  world.receive(std::as_writable_bytes(std::span(text)), from);
  return text;
}

// Both ranks of a pair order its lanes the same way.
std::vector<std::size_t> order_of_lanes(const std::vector<Transfer>& transfers) {
  std::vector<std::size_t> order(transfers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return transfers[a].lane < transfers[b].lane; });
  return order;
}

}  // namespace

std::vector<std::string> trade(World& world, const std::vector<Transfer>& gives, const std::vector<std::string>& texts,
                               const std::vector<Transfer>& takes) {
  const int rank = world.rank(), size = world.size();
  std::map<int, std::string> to_myself;
  std::vector<std::string> heard(takes.size());
  const std::vector<std::size_t> giving = order_of_lanes(gives), taking = order_of_lanes(takes);
  for (const std::size_t i : giving)
    if (gives[i].peer == rank) to_myself[gives[i].lane] = texts[i];
  for (const std::size_t i : taking)
    if (takes[i].peer == rank) heard[i] = to_myself[takes[i].lane];
  // In turn d each rank sends to the rank d places on and receives from the rank d places back; a cycle of ranks that
  // all send first is broken by one that receives first.
  for (int distance = 1; distance < size; ++distance) {
    const int to = (rank + distance) % size, from = (rank + size - distance) % size;
    const auto give = [&] {
      for (const std::size_t i : giving)
        if (gives[i].peer == to) send_text(world, texts[i], to);
    };
    const auto take = [&] {
      for (const std::size_t i : taking)
        if (takes[i].peer == from) heard[i] = receive_text(world, from);
    };
    // The cycle through `rank` in steps of `distance` contains a rank below `distance`.
    if (rank < distance) {
      take();
      give();
    } else {
      give();
      take();
    }
  }
  return heard;
}

std::string packed(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    const std::uint64_t size = text.size();
    all.append(reinterpret_cast<const char*>(&size), sizeof size);
    all += text;
  }
  return all;
}

std::vector<std::string> unpacked(const std::string& text) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < text.size();) {
    std::uint64_t size = 0;
    std::memcpy(&size, text.data() + at, sizeof size);
    texts.push_back(text.substr(at + sizeof size, size));
    at += sizeof size + size;
  }
  return texts;
}

}  // namespace plumb
