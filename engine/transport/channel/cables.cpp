#include "transport/channel/cables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "core/error.hpp"

namespace plumb::channel {

namespace {

std::string end_name(const std::string& node, int device, int port) {
  return fmt::format("{}:acl{}:ch{}", node, device, port);
}

// The two names of a board's port.
std::string by_number(const Board& board, int port) {
  return end_name(fmt::format("n{:02}", board.node), board.device, port);
}
std::string by_host(const Board& board, int port) {
  return end_name(board.host, board.device, port);
}

}  // namespace

std::vector<Board> boards_of(const std::vector<std::string>& hosts, const std::vector<int>& devices) {
  std::vector<std::string> known;
  std::vector<Board> boards;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const auto found = std::find(known.begin(), known.end(), hosts[rank]);
    boards.push_back({hosts[rank], static_cast<int>(found - known.begin()), devices[rank]});
    if (found == known.end()) known.push_back(hosts[rank]);
  }
  return boards;
}

Cables::Cables(const std::string& text) {
  static const std::regex shape(R"(([^=,]+:acl\d+:ch\d+)=([^=,]+:acl\d+:ch\d+))");
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    std::smatch found;
    if (!std::regex_match(word, found, shape))
      throw UsageError(fmt::format("--cables: a cable must be NODE:aclD:chP=NODE:aclD:chP, not '{}'", word));
    for (const auto& [one, other] : {std::pair(1, 2), std::pair(2, 1)})
      if (!far_ends_.emplace(found[one], found[other]).second)
        throw UsageError(fmt::format("--cables: two cables are in {}", found[one].str()));
  }
}

std::string Cables::find(const Board& board, int port) const {
  for (const std::string& name : {by_number(board, port), by_host(board, port)})
    if (const auto found = far_ends_.find(name); found != far_ends_.end()) return found->second;
  return "";
}

std::string Cables::problem(const Board& from, int port, const Board& to, int far) const {
  if (empty()) return "";
  const std::string there = find(from, port), wanted = by_number(to, far);
  if (there == wanted || there == by_host(to, far)) return "";
  const std::string found = there.empty() ? "no cable is in it" : "its cable leads to " + there;
  return fmt::format("what {} sends must arrive at {}, but {}", by_number(from, port), wanted, found);
}

}  // namespace plumb::channel
