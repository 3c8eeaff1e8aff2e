// Panels along the rows of a grid, over any transport.
#pragma once

#include <memory>
#include <vector>

#include "transport/transport.hpp"
#include "world/team.hpp"

namespace plumb::hpl {

// ring: to the right. torus: both ways round the ring, half of the ranks each. tree: binomial.
enum class Way { ring, torus, tree };

// Lanes of a grid's exchanges: panels along rows have the first two.
inline constexpr int top_lane = 2, rows_lane = 3;

// The links of one rank in a broadcast: from whom (-1 at the root), and to whom, in this order. Places in a row of
// `length`; distances are counted from the root to the right.
struct Links {
  int from = -1;
  std::vector<int> to;
};
Links links(Way way, int place, int root, int length);

// Broadcasts of buffers of one size from any place of a row, the first bytes of them, in pieces.
class PanelBroadcast {
 public:
  // Collective over this rank's row of the grid. The buffers must have room for whole pieces; each has a lane of its
  // own.
  PanelBroadcast(Transport* transport, Way way, Team& row, const std::vector<BufferView>& buffers, std::size_t piece,
                 int first_lane = 0);
  // The first `bytes` of a buffer, from the root's place; the same on all ranks of the row.
  void start(std::size_t buffer, int root, std::size_t bytes);
  void wait();

  static std::size_t piece_of(std::size_t largest);  // bytes that go at a time, of panels of at most so many

 private:
  std::size_t piece_, length_;
  std::vector<std::unique_ptr<CompiledExchange>> exchanges_;  // by buffer and root
  CompiledExchange* under_way_ = nullptr;
};

}  // namespace plumb::hpl
