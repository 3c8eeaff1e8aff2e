// Cables between the ports of boards, as a system file has them: each joins two ports, and both send and receive by it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace plumb::channel {

// A board: a device of a host, which is the run's `node`th.
struct Board {
  std::string host;
  int node = 0, device = 0;
};
// The boards of all ranks, from each rank's host and device, in rank order.
std::vector<Board> boards_of(const std::vector<std::string>& hosts, const std::vector<int>& devices);

class Cables {
 public:
  Cables() = default;
  // "n00:acl0:ch0=n01:acl0:ch2,…": a node's number in the run (n00) or its host's name, device, port. Throws
  // UsageError.
  explicit Cables(const std::string& text);
  // "" if what a board sends by its port arrives at this port of another, and if no cable is known; otherwise what does
  // not fit.
  std::string problem(const Board& from, int port, const Board& to, int far) const;
  bool empty() const { return far_ends_.empty(); }

 private:
  std::string find(const Board& board, int port) const;

  std::map<std::string, std::string> far_ends_;  // by each end
};

}  // namespace plumb::channel
