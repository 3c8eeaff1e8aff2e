#include "benchmarks/apps/shallow_water/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <sstream>

#include "core/data.hpp"

namespace plumb::shallow_water {

namespace {

using Numbers = std::span<std::uint32_t>;

// Deals `elements` to the ranks first .. first + ranks - 1. Ties by number, so every rank finds the same.
void bisect(const std::vector<Point>& centres, Numbers elements, int first, int ranks, Owners& owners) {
  if (ranks == 1) {
    for (const std::uint32_t e : elements) owners[e] = first;
    return;
  }
  constexpr double infinite = std::numeric_limits<double>::infinity();
  Point low{infinite, infinite}, high{-infinite, -infinite};
  for (const std::uint32_t e : elements) {
    low = {std::min(low.x, centres[e].x), std::min(low.y, centres[e].y)};
    high = {std::max(high.x, centres[e].x), std::max(high.y, centres[e].y)};
  }
  const bool wide = high.x - low.x >= high.y - low.y;
  const auto key = [&](std::uint32_t e) { return std::pair(wide ? centres[e].x : centres[e].y, e); };
  const int half = ranks / 2;
  const std::size_t cut = elements.size() * static_cast<std::size_t>(half) / static_cast<std::size_t>(ranks);
  std::ranges::nth_element(elements, elements.begin() + static_cast<std::ptrdiff_t>(cut), {}, key);
  bisect(centres, elements.first(cut), first, half, owners);
  bisect(centres, elements.subspan(cut), first + half, ranks - half, owners);
}

bool is_border(const Mesh& mesh, const Owners& owners, std::size_t e) {
  return std::ranges::any_of(mesh.neighbours[e], [&](std::int32_t place) {
    return place >= 0 && owners[static_cast<std::size_t>(place / 4)] != owners[e];
  });
}

}  // namespace

Owners bisected(const Mesh& mesh, int ranks) {
  std::vector<Point> centres(mesh.elements());
  for (std::size_t e = 0; e < centres.size(); ++e) centres[e] = mesh.centre(e);
  std::vector<std::uint32_t> elements(centres.size());
  std::iota(elements.begin(), elements.end(), 0U);
  Owners owners(centres.size());
  bisect(centres, elements, 0, ranks, owners);
  return owners;
}

Owners scattered(const Mesh& mesh, int ranks, std::uint64_t seed) {
  std::vector<std::uint32_t> elements(mesh.elements());
  std::iota(elements.begin(), elements.end(), 0U);
  std::ranges::sort(elements, {}, [&](std::uint32_t e) { return std::pair(mix64(seed * 1000003 + e), e); });
  Owners owners(mesh.elements());
  for (std::size_t i = 0; i < elements.size(); ++i)
    owners[elements[i]] = static_cast<std::int32_t>(i % static_cast<std::size_t>(ranks));
  return owners;
}

Owners read_owners(const std::string& text, const std::string& name, std::size_t elements, int ranks) {
  std::istringstream in(text);
  Owners owners;
  for (std::string word; in >> word;) {
    const std::size_t line = owners.size() + 1;
    if (line > elements)
      throw UsageError(fmt::format("{}, line {}: the mesh has only {} elements", name, line, elements));
    const bool digits = std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; }) && word.size() < 9;
    if (!digits || std::stol(word) >= ranks)
      throw UsageError(fmt::format("{}, line {}: \"{}\" is not a rank from 0 to {}", name, line, word, ranks - 1));
    owners.push_back(static_cast<std::int32_t>(std::stol(word)));
  }
  if (owners.size() < elements)
    throw UsageError(fmt::format("{}: it has {} lines, but the mesh {} elements", name, owners.size(), elements));
  return owners;
}

std::uint32_t Part::sent() const {
  std::uint32_t sum = 0;
  for (const Neighbour& near : neighbours) sum += static_cast<std::uint32_t>(near.sends.size());
  return sum;
}

std::uint32_t Part::external() const {
  std::uint32_t sum = 0;
  for (const auto& three : places)
    sum += static_cast<std::uint32_t>(std::ranges::count_if(three, [](auto place) { return place < 0; }));
  return sum;
}

Part part_of(const Mesh& mesh, const Owners& owners, int rank) {
  Part part;
  std::vector<std::uint32_t> border;
  std::map<int, std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> by_rank;  // sent, received: indices
  for (std::uint32_t e = 0; e < mesh.elements(); ++e) {
    if (owners[e] != rank) continue;
    if (!is_border(mesh, owners, e)) {
      part.index.push_back(e);
      continue;
    }
    border.push_back(e);
    for (const std::int32_t place : mesh.neighbours[e]) {
      if (place < 0) continue;
      const auto other = static_cast<std::uint32_t>(place / 4);
      if (owners[other] == rank) continue;
      by_rank[owners[other]].first.push_back(e);
      by_rank[owners[other]].second.push_back(other);
    }
  }
  part.core = static_cast<std::uint32_t>(part.index.size());
  part.index.insert(part.index.end(), border.begin(), border.end());
  part.own = static_cast<std::uint32_t>(part.index.size());
  for (auto& [other, lists] : by_rank) {
    for (auto* list : {&lists.first, &lists.second}) {
      std::ranges::sort(*list);
      list->erase(std::ranges::unique(*list).begin(), list->end());
    }
    const auto begin = static_cast<std::uint32_t>(part.index.size()) - part.own;
    part.neighbours.push_back({other, lists.first, static_cast<std::uint32_t>(lists.second.size()), begin});
    part.index.insert(part.index.end(), lists.second.begin(), lists.second.end());
  }
  std::vector<std::int32_t> local(mesh.elements(), -1);
  for (std::uint32_t i = 0; i < part.index.size(); ++i) local[part.index[i]] = static_cast<std::int32_t>(i);
  for (Neighbour& near : part.neighbours)
    for (std::uint32_t& e : near.sends) e = static_cast<std::uint32_t>(local[e]);
  part.places.resize(part.own);
  for (std::uint32_t i = 0; i < part.own; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int32_t place = mesh.neighbours[part.index[i]][k];
      part.places[i][k] = place < 0 ? place : 4 * local[static_cast<std::size_t>(place / 4)] + place % 4;
    }
  return part;
}

std::vector<std::uint32_t> shares_of(const Owners& owners, int ranks) {
  std::vector<std::uint32_t> shares(static_cast<std::size_t>(ranks));
  for (const std::int32_t owner : owners) ++shares[static_cast<std::size_t>(owner)];
  return shares;
}

std::string graph_of(const std::vector<Shared>& ranks) {
  std::size_t edges = 0;
  for (const Shared& one : ranks) edges += one.sent.size();
  std::string text = fmt::format("{} {} 011\n", ranks.size(), edges / 2);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    text += fmt::format("{}", ranks[rank].elements);
    // METIS's weights are symmetric: of both directions the larger.
    for (const auto& [other, count] : ranks[rank].sent) {
      const std::uint32_t back = ranks[static_cast<std::size_t>(other)].sent.at(static_cast<int>(rank));
      text += fmt::format(" {} {}", other + 1, std::max(count, back));
    }
    text += "\n";
  }
  return text;
}

}  // namespace plumb::shallow_water
