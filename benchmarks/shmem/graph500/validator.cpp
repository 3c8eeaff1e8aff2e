#include "benchmarks/shmem/graph500/validator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/data.hpp"

namespace plumb::graph500 {

namespace {

constexpr std::uint64_t edges_at_a_time = std::uint64_t{1} << 20, words_at_a_time_of_sums = std::uint64_t{1} << 20;
constexpr std::uint32_t being_followed = wrong_level - 1, unknown_level = wrong_level - 2;

// A row's fingerprint: two sums over its members.
struct RowSum {
  std::uint64_t members = 0, hash = 0;
  bool operator==(const RowSum&) const = default;
  void add(Vertex neighbour, float weight = 0) {
    members += 1;
    hash += mix64(neighbour | std::uint64_t{std::bit_cast<std::uint32_t>(weight)} << 32);
  }
  void add_loops(std::uint64_t loops) {
    members += loops << 40;
    hash += loops * mix64(~Vertex{0});
  }
};

std::uint32_t apart(std::uint32_t a, std::uint32_t b) {
  return a > b ? a - b : b - a;
}

}  // namespace

Validator::Validator(Team& team, const Layout& layout, const GraphPlan& plan, bool weighted)
    : team_(team), layout_(layout), weighted_(weighted) {
  const Generator generator(plan);
  const EdgeRange share = share_of(plan.edges(), team.rank(), team.size());
  edges_.reserve(share.count);
  std::vector<Edge> some(std::min(edges_at_a_time, share.count));
  if (weighted) weights_.resize(share.count);
  for (std::uint64_t done = 0; done < share.count; done += edges_at_a_time) {
    const std::uint64_t count = std::min(edges_at_a_time, share.count - done);
    generator.make({share.first + done, count}, std::span(some).first(count),
                   weighted ? std::span(weights_).subspan(done, count) : std::span<float>());
    for (std::uint64_t i = 0; i < count; ++i)
      edges_.push_back({static_cast<std::uint32_t>(some[i].from), static_cast<std::uint32_t>(some[i].to)});
  }
}

std::uint64_t Validator::bytes(const GraphPlan& plan, int ranks, bool weighted) {
  const std::uint64_t distance = weighted ? sizeof(float) : 0;
  const std::uint64_t of_tree = sizeof(Parent) + sizeof(std::uint32_t) + distance, of_graph = sizeof(RowSum);
  return (8 + distance) * (plan.edges() / static_cast<std::uint64_t>(ranks) + 1) +
         plan.vertices() * std::max(of_tree, of_graph);
}

Findings Validator::check(const Graph& graph) {
  std::vector<RowSum> rows(layout_.vertices());
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const auto& [from, to] = edges_[i];
    const float weight = weights_.empty() ? 0 : weights_[i];
    if (from == to) {
      rows[from].add_loops(1);
      continue;
    }
    rows[from].add(to, weight);
    rows[to].add(from, weight);
  }
  const std::span sums(&rows[0].members, 2 * rows.size());
  for (std::uint64_t done = 0; done < sums.size(); done += words_at_a_time_of_sums)
    team_.all_reduce(sums.subspan(done, std::min(words_at_a_time_of_sums, sums.size() - done)), Fold::sum);
  Findings found;
  for (std::uint64_t local = 0; local < layout_.count(); ++local) {
    RowSum row;
    for (std::uint64_t i = graph.begins[local]; i < graph.begins[local + 1]; ++i)
      row.add(graph.neighbours[i], graph.weights.empty() ? 0 : graph.weights[i]);
    row.add_loops(graph.loops[local]);
    ++found.checked;
    if (row != rows[layout_.first() + local])
      found.note(fmt::format("vertex {} has {} neighbours in the graph that was built, and {} in the list, or others",
                             layout_.first() + local, graph.degree(local),
                             rows[layout_.first() + local].members & ((std::uint64_t{1} << 40) - 1)));
  }
  return found;
}

std::vector<std::uint32_t> levels_of(Vertex root, std::span<const Parent> parents) {
  std::vector<std::uint32_t> levels(parents.size(), unknown_level);
  std::vector<Vertex> path;
  if (parents[root] == static_cast<Parent>(root)) levels[root] = 0;
  for (Vertex vertex = 0; vertex < parents.size(); ++vertex) {
    Vertex at = vertex;
    std::uint32_t level = wrong_level;
    for (;; at = static_cast<Vertex>(parents[at])) {
      if (levels[at] != unknown_level) {
        level = levels[at] == being_followed ? wrong_level : levels[at];
        break;
      }
      if (parents[at] == unreached && path.empty()) levels[at] = no_level;
      if (parents[at] < 0 || static_cast<Vertex>(parents[at]) >= parents.size()) break;
      levels[at] = being_followed;
      path.push_back(at);
    }
    if (level == no_level) level = wrong_level;  // a parent outside the tree
    for (; !path.empty(); path.pop_back()) levels[path.back()] = level == wrong_level ? wrong_level : ++level;
    if (levels[vertex] == unknown_level) levels[vertex] = wrong_level;
  }
  return levels;
}

template <class T>
std::vector<T> Validator::gathered(std::span<const T> mine) {
  std::vector<T> all(layout_.vertices());
  std::vector<std::size_t> counts;
  for (int rank = 0; rank < layout_.ranks(); ++rank) counts.push_back(layout_.count_of(rank));
  team_.all_gather<T>(mine, all, counts);
  return all;
}

// Ors this rank's bits into the owners'.
void Validator::unite(Bitmap& bitmap) {
  std::vector<std::size_t> counts;
  for (int rank = 0; rank < layout_.ranks(); ++rank) counts.push_back((layout_.count_of(rank) + 63) / 64);
  const std::size_t mine = counts[static_cast<std::size_t>(layout_.rank())];
  const std::vector<std::size_t> incoming(counts.size(), mine);
  std::vector<std::uint64_t> received(mine * counts.size());
  team_.all_to_all<std::uint64_t>(bitmap.words(), counts, received, incoming);
  for (std::size_t i = 0; i < received.size(); ++i) bitmap.words()[layout_.first() / 64 + i % mine] |= received[i];
}

bool Validator::is_relaxed(std::size_t edge, const Tree& tree) const {
  const float one = tree.distances[edges_[edge][0]], other = tree.distances[edges_[edge][1]];
  return one <= other + weights_[edge] && other <= one + weights_[edge];
}

bool Validator::confirms(std::size_t edge, Vertex parent, Vertex child, const Tree& tree) const {
  if (tree.parents[child] != static_cast<Parent>(parent)) return false;
  return tree.distances.empty() || tree.distances[child] == tree.distances[parent] + weights_[edge];
}

void Validator::check_edges(TreeFindings& found, const Tree& tree, Bitmap& confirmed) const {
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const auto& [from, to] = edges_[i];
    ++found.checked;
    const std::uint32_t one = tree.levels[from], other = tree.levels[to];
    if ((one == no_level) != (other == no_level)) {
      found.note(fmt::format("edge {} - {} leads out of the tree", from, to));
      continue;
    }
    if (one == no_level) continue;
    ++(from == to ? found.traversed.loops : found.traversed.edges);
    if (tree.distances.empty()) {
      if (one != wrong_level && other != wrong_level && apart(one, other) > 1)
        found.note(fmt::format("edge {} - {} joins levels {} and {}", from, to, one, other));
    } else if (!is_relaxed(i, tree)) {
      found.note(fmt::format("edge {} - {} of weight {} joins distances {} and {}", from, to, weights_[i],
                             tree.distances[from], tree.distances[to]));
    }
    if (from == to) continue;
    for (const std::uint32_t level : {one, other})
      if (level < found.levels) ++found.level_ends[level];
    if (confirms(i, to, from, tree)) confirmed.set(from);
    if (confirms(i, from, to, tree)) confirmed.set(to);
  }
}

void Validator::count_levels(TreeFindings& found, const Tree& tree) {
  for (const std::uint32_t level : tree.levels)
    if (level < unknown_level) found.levels = std::max(found.levels, level + 1);
  found.level_vertices.assign(found.levels, 0);
  found.level_ends.assign(found.levels, 0);
  for (const std::uint32_t level : tree.levels)
    if (level < found.levels) ++found.level_vertices[level];
}

void Validator::check_vertex(TreeFindings& found, const Tree& tree, Vertex root, Vertex vertex, bool confirmed) const {
  ++found.checked;
  const std::uint32_t level = tree.levels[vertex];
  const Parent parent = tree.parents[vertex];
  if (level != no_level) ++found.reached;
  if (vertex == root && level != 0)
    found.note(fmt::format("the root {} has parent {}, should be its own", root, parent));
  else if (level == wrong_level)
    found.note(fmt::format("vertex {} with parent {} does not lead to the root", vertex, parent));
  else if (level != no_level && vertex != root && !confirmed)
    found.note(fmt::format("vertex {} has parent {}, and the graph no such edge{}", vertex, parent,
                           tree.distances.empty() ? "" : ", or none of a weight that makes its distance"));
  else if (!tree.distances.empty() &&
           !(level == no_level ? tree.distances[vertex] == std::numeric_limits<float>::infinity()
             : vertex == root  ? tree.distances[vertex] == 0
                               : std::isfinite(tree.distances[vertex])))
    found.note(fmt::format("vertex {} has distance {}", vertex, tree.distances[vertex]));
}

TreeFindings Validator::check(Vertex root, std::span<const Parent> parents, std::span<const float> distances) {
  TreeFindings found;
  Tree tree;
  tree.parents = gathered(parents);
  // A rank without vertices has no distances either.
  if (weighted_ && team_.all_reduce<std::uint64_t>(distances.size(), Fold::maximum) > 0)
    tree.distances = gathered(distances);
  tree.levels = levels_of(root, tree.parents);
  count_levels(found, tree);
  Bitmap confirmed(layout_.vertices());
  check_edges(found, tree, confirmed);
  unite(confirmed);
  for (Vertex vertex = layout_.first(); vertex < layout_.first() + layout_.count(); ++vertex)
    check_vertex(found, tree, root, vertex, confirmed.test(vertex));
  return found;
}

}  // namespace plumb::graph500
