#include "benchmarks/hpcc/ptrans/distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

namespace plumb::ptrans {

std::string Grid::text() const {
  return fmt::format("{} x {}", rows, columns);
}

std::vector<Grid> grids_of(int ranks) {
  std::vector<Grid> grids;
  for (int rows = 1; rows <= ranks; ++rows)
    if (ranks % rows == 0) grids.push_back({rows, ranks / rows});
  return grids;
}

Grid squarest(int ranks) {
  Grid best{1, ranks};
  for (const Grid& grid : grids_of(ranks))
    if (grid.rows <= grid.columns) best = grid;
  return best;
}

Distribution::Distribution(const Problem& problem, const Grid& grid, bool diagonal)
    : problem_(problem), grid_(grid), diagonal_(diagonal) {
  const std::uint64_t blocks = problem.blocks(), ranks = static_cast<std::uint64_t>(grid.ranks());
  pairs_ = blocks * (blocks - 1) / 2;
  if (!diagonal || ranks % 2 == 0) return;
  const std::uint64_t share = blocks * blocks / ranks;
  local_pairs_ = ranks == 1 ? pairs_ : share > blocks ? (share - blocks) / 2 : 0;
}

int Distribution::owner(std::uint64_t row, std::uint64_t column) const {
  const auto ranks = static_cast<std::uint64_t>(grid_.ranks());
  if (!diagonal_) {
    const auto rows = static_cast<std::uint64_t>(grid_.rows), columns = static_cast<std::uint64_t>(grid_.columns);
    return static_cast<int>(row % rows * columns + column % columns);
  }
  const bool odd = ranks % 2 == 1;
  if (row == column) return static_cast<int>(odd ? ranks - 1 : row % ranks);
  const std::uint64_t low = std::min(row, column), high = std::max(row, column);
  const std::uint64_t pair = high * (high - 1) / 2 + low;
  const std::uint64_t local_before = pair * local_pairs_ / pairs_;
  if ((pair + 1) * local_pairs_ / pairs_ > local_before) return static_cast<int>(ranks - 1);
  return static_cast<int>((pair - local_before) % (ranks / 2) * 2 + (row < column ? 0 : 1));
}

Distribution::Shares Distribution::shares() const {
  const auto ranks = static_cast<std::size_t>(this->ranks());
  Shares shares{std::vector<std::uint64_t>(ranks), std::vector<std::vector<int>>(ranks)};
  std::set<std::pair<int, int>> links;
  for (std::uint64_t row = 0; row < problem_.blocks(); ++row)
    for (std::uint64_t column = 0; column < problem_.blocks(); ++column) {
      const int from = owner(row, column), to = owner(column, row);
      ++shares.blocks[static_cast<std::size_t>(from)];
      if (from != to) links.insert({from, to});
    }
  for (const auto& [from, to] : links) shares.partners[static_cast<std::size_t>(from)].push_back(to);
  return shares;
}

bool Distribution::Shares::all_have_blocks() const {
  return std::all_of(blocks.begin(), blocks.end(), [](std::uint64_t number) { return number > 0; });
}

bool Distribution::Shares::at_most_one_partner() const {
  return std::all_of(partners.begin(), partners.end(), [](const auto& of_rank) { return of_rank.size() <= 1; });
}

const Block& Portion::block_of(std::uint64_t at) const {
  const auto behind = std::upper_bound(blocks.begin(), blocks.end(), at,
                                       [](std::uint64_t item, const Block& block) { return item < block.at; });
  return *std::prev(behind);
}

namespace {

// Order common to a block and its mirror image, and so to both ranks. Possibly truncated blocks of the last row and
// column come last.
auto order_of(const Block& block) {
  return std::tuple(std::max(block.top, block.left), std::min(block.top, block.left), block.top > block.left);
}

Portion part_of(int partner, std::uint64_t stage, std::span<const Block> blocks) {
  Portion part{partner, stage, {blocks.begin(), blocks.end()}, 0};
  for (Block& block : part.blocks) {
    block.at = part.items;
    part.items += block.items();
  }
  return part;
}

}  // namespace

std::vector<Portion> parts_of(const Distribution& distribution, int rank, std::uint64_t stages) {
  const Problem& problem = distribution.problem();
  std::map<int, std::vector<Block>> by_partner;
  for (std::uint64_t row = 0; row < problem.blocks(); ++row)
    for (std::uint64_t column = 0; column < problem.blocks(); ++column)
      if (distribution.owner(row, column) == rank)
        by_partner[distribution.owner(column, row)].push_back(
            {row * problem.block, column * problem.block, problem.extent(row), problem.extent(column)});
  std::vector<Portion> parts;
  for (auto& [partner, blocks] : by_partner) {
    std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return order_of(a) < order_of(b); });
    const std::uint64_t cuts = partner == rank ? 1 : stages, count = blocks.size();
    for (std::uint64_t stage = 0; stage < cuts; ++stage) {
      const std::uint64_t begin = count * stage / cuts, end = count * (stage + 1) / cuts;
      if (end > begin) parts.push_back(part_of(partner, stage, std::span(blocks).subspan(begin, end - begin)));
    }
  }
  std::stable_sort(parts.begin(), parts.end(), [](const Portion& a, const Portion& b) { return a.stage < b.stage; });
  return parts;
}

Portion mirrored(const Portion& part, int rank) {
  Portion result = part;
  result.partner = rank;
  for (Block& block : result.blocks) {
    std::swap(block.top, block.left);
    std::swap(block.rows, block.columns);
  }
  return result;
}

}  // namespace plumb::ptrans
