#include "world/collect.hpp"

#include <cstdint>

namespace plumb {

std::vector<std::string> gather_texts(World& world, const std::string& text, int root) {
  std::vector<std::string> texts;
  for (const auto& part : world.gather(std::as_bytes(std::span(text.data(), text.size())), root))
    texts.emplace_back(reinterpret_cast<const char*>(part.data()), part.size());
  return texts;
}

std::string broadcast_text(World& world, const std::string& text, int root) {
  const auto length = broadcast_value<std::uint64_t>(world, text.size(), root);
  std::string result = world.rank() == root ? text : std::string(length, '\0');
  if (length > 0) world.broadcast(std::as_writable_bytes(std::span(result.data(), result.size())), root);
  return result;
}

std::vector<std::string> all_texts(World& world, const std::string& text) {
  std::vector<std::string> texts = gather_texts(world, text);
  texts.resize(static_cast<std::size_t>(world.size()));
  for (std::string& one : texts) one = broadcast_text(world, one);
  return texts;
}

AgreedText first_text(World& world, const std::string& text) {
  int rank = -1;
  std::string found;
  const std::vector<std::string> texts = gather_texts(world, text);
  for (std::size_t i = 0; i < texts.size() && rank < 0; ++i) {
    if (texts[i].empty()) continue;
    rank = static_cast<int>(i);
    found = texts[i];
  }
  rank = broadcast_value(world, rank);
  if (rank < 0) return {};
  return {rank, broadcast_text(world, found)};
}

}  // namespace plumb
