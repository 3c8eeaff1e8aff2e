// Broadcasts of panels along the rows of a grid, over any transport.
#pragma once

#include <memory>
#include <vector>

#include "transport/transport.hpp"
#include "world/team.hpp"

namespace plumb::hpl {

// ring: to the right. torus: both directions of the ring, half of the ranks each. tree: binomial.
enum class Way { ring, torus, tree };

// Lanes of a grid's exchanges; the first two are for panels along rows, the last and the next for pivots.
inline constexpr int top_lane = 2, rows_lane = 3, pivots_lane = 4;

// Links of one rank in a broadcast: its source (-1 at the root) and its targets, in order. Places in a row of
// `length`; distances are counted from the root to the right.
struct Links {
  int from = -1;
  std::vector<int> to;
};
Links links(Way way, int place, int root, int length);

// Broadcasts of equal buffers from any place of a row: a given number of first bytes, in pieces.
class PanelBroadcast {
 public:
  // Collective over this rank's row of the grid. Buffers must have room for whole pieces; each has its own
  // lane.
  PanelBroadcast(Transport* transport, Way way, Team& row, const std::vector<BufferView>& buffers, std::size_t piece,
                 int first_lane = 0);
  // Broadcasts the first `bytes` of a buffer from the root's place; the same arguments on all ranks of the row.
  void start(std::size_t buffer, int root, std::size_t bytes);
  void wait();

  static std::size_t piece_of(std::size_t largest);  // bytes per piece, for panels of at most `largest` bytes

 private:
  std::size_t piece_, length_;
  std::vector<std::unique_ptr<CompiledExchange>> exchanges_;  // by buffer and root
  CompiledExchange* under_way_ = nullptr;
};

}  // namespace plumb::hpl
