#include "benchmarks/shmem/graph500/validator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "benchmarks/shmem/graph500/cores.hpp"
#include "core/data.hpp"

namespace plumb::graph500 {

namespace {

constexpr std::uint64_t edges_at_a_time = std::uint64_t{1} << 14;  // drawn by one core
constexpr std::uint64_t items_of_a_core = std::uint64_t{1} << 14;  // at least
constexpr std::size_t longest_way = 64;                            // that many cores follow at once
constexpr std::uint64_t words_at_a_time_of_sums = std::uint64_t{1} << 20;
constexpr std::uint32_t being_followed = wrong_level - 1, unknown_level = wrong_level - 2;

// A row's fingerprint: two sums over its members.
struct RowSum {
  std::uint64_t members = 0, hash = 0;
  bool operator==(const RowSum&) const = default;
  void add(const RowSum& more) {
    members += more.members;
    hash += more.hash;
  }
  // While other cores add, too.
  void add_shared(const RowSum& more) {
    std::atomic_ref(members).fetch_add(more.members, std::memory_order_relaxed);
    std::atomic_ref(hash).fetch_add(more.hash, std::memory_order_relaxed);
  }
  static RowSum of(Vertex neighbour, float weight) {
    return {1, mix64(neighbour | std::uint64_t{std::bit_cast<std::uint32_t>(weight)} << 32)};
  }
  static RowSum of_loops(std::uint64_t loops) { return {loops << 40, loops * mix64(~Vertex{0})}; }
};

// Findings of check(findings, item) for `count` items, on all cores; each begins with a copy of `none`.
template <class Found, class Check>
Found found_by_cores(const Found& none, std::uint64_t count, const Check& check) {
  std::vector<Found> all(parts_of(count, items_of_a_core), none);
  on_cores(all.size(), count, [&](std::uint64_t part, std::uint64_t begin, std::uint64_t end) {
    Found own = none;
    for (std::uint64_t item = begin; item < end; ++item) check(own, item);
    all[part] = std::move(own);
  });
  for (std::size_t part = 1; part < all.size(); ++part) all[0].add(all[part]);
  return all[0];
}

std::uint32_t apart(std::uint32_t a, std::uint32_t b) {
  return a > b ? a - b : b - a;
}

}  // namespace

Validator::Validator(Team& team, const Layout& layout, const GraphPlan& plan, bool weighted)
    : team_(team), layout_(layout), weighted_(weighted) {
  const Generator generator(plan);
  const EdgeRange share = share_of(plan.edges(), team.rank(), team.size());
  edges_.resize(share.count);
  if (weighted) weights_.resize(share.count);
  // A file is read by one core.
  const std::uint64_t parts = plan.kind == GraphPlan::Kind::file ? 1 : parts_of(share.count, edges_at_a_time);
  on_cores(parts, share.count, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
    std::vector<Edge> some(std::min(edges_at_a_time, end - begin));
    for (std::uint64_t done = begin; done < end; done += edges_at_a_time) {
      const std::uint64_t count = std::min(edges_at_a_time, end - done);
      generator.make({share.first + done, count}, std::span(some).first(count),
                     weighted ? std::span(weights_).subspan(done, count) : std::span<float>());
      for (std::uint64_t i = 0; i < count; ++i)
        edges_[done + i] = {static_cast<std::uint32_t>(some[i].from), static_cast<std::uint32_t>(some[i].to)};
    }
  });
}

std::uint64_t Validator::bytes(const GraphPlan& plan, int ranks, bool weighted) {
  const std::uint64_t distance = weighted ? sizeof(float) : 0;
  const std::uint64_t of_tree = sizeof(Parent) + sizeof(std::uint32_t) + sizeof(Tree::Place) + distance,
                      of_graph = sizeof(RowSum);
  return (8 + distance) * (plan.edges() / static_cast<std::uint64_t>(ranks) + 1) +
         plan.vertices() * std::max(of_tree, of_graph);
}

Findings Validator::check(const Graph& graph) {
  std::vector<RowSum> rows(layout_.vertices());
  on_cores(parts_of(edges_.size(), items_of_a_core), edges_.size(),
           [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
             for (std::uint64_t i = begin; i < end; ++i) {
               const auto& [from, to] = edges_[i];
               const float weight = weights_.empty() ? 0 : weights_[i];
               rows[from].add_shared(from == to ? RowSum::of_loops(1) : RowSum::of(to, weight));
               if (from != to) rows[to].add_shared(RowSum::of(from, weight));
             }
           });
  const std::span sums(&rows[0].members, 2 * rows.size());
  for (std::uint64_t done = 0; done < sums.size(); done += words_at_a_time_of_sums)
    team_.all_reduce(sums.subspan(done, std::min(words_at_a_time_of_sums, sums.size() - done)), Fold::sum);
  return found_by_cores<Findings>({}, layout_.count(), [&](Findings& found, std::uint64_t local) {
    RowSum row = RowSum::of_loops(graph.loops[local]);
    for (std::uint64_t i = graph.begins[local]; i < graph.begins[local + 1]; ++i)
      row.add(RowSum::of(graph.neighbours[i], graph.weights.empty() ? 0 : graph.weights[i]));
    ++found.checked;
    if (row != rows[layout_.first() + local])
      found.note(fmt::format("vertex {} has {} neighbours in the graph that was built, and {} in the list, or others",
                             layout_.first() + local, graph.degree(local),
                             rows[layout_.first() + local].members & ((std::uint64_t{1} << 40) - 1)));
  });
}

namespace {

// Vertices whose way to the root, to a known one, or out of the tree is short. Cores that meet write the same levels.
void follow_short_ways(std::span<const Parent> parents, std::span<std::uint32_t> levels) {
  const auto level_at = [&](Vertex vertex) { return std::atomic_ref(levels[vertex]); };
  const auto follow = [&](Vertex vertex) {
    std::array<Vertex, longest_way> way;
    std::size_t steps = 0;
    std::uint32_t level = wrong_level;
    for (Vertex at = vertex;; at = static_cast<Vertex>(parents[at])) {
      level = level_at(at).load(std::memory_order_relaxed);
      if (level != unknown_level) break;
      level = parents[at] == unreached && steps == 0 ? no_level : wrong_level;
      if (parents[at] < 0 || static_cast<Vertex>(parents[at]) >= parents.size()) break;
      if (steps == longest_way) return;
      way[steps++] = at;
    }
    if (steps == 0) return level_at(vertex).store(level, std::memory_order_relaxed);
    if (level == no_level) level = wrong_level;  // a parent outside the tree
    while (steps > 0)
      level_at(way[--steps]).store(level == wrong_level ? wrong_level : ++level, std::memory_order_relaxed);
  };
  on_cores(parts_of(parents.size(), items_of_a_core), parents.size(),
           [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
             for (Vertex vertex = begin; vertex < end; ++vertex) follow(vertex);
           });
}

}  // namespace

std::vector<std::uint32_t> levels_of(Vertex root, std::span<const Parent> parents) {
  std::vector<std::uint32_t> levels(parents.size(), unknown_level);
  std::vector<Vertex> path;
  if (parents[root] == static_cast<Parent>(root)) levels[root] = 0;
  follow_short_ways(parents, levels);
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
  if (tree.places[child].parent != parent) return false;
  return tree.distances.empty() || tree.distances[child] == tree.distances[parent] + weights_[edge];
}

void Validator::check_edge(TreeFindings& found, const Tree& tree, Bitmap& confirmed, std::size_t i) const {
  const auto& [from, to] = edges_[i];
  ++found.checked;
  const std::uint32_t one = tree.places[from].level, other = tree.places[to].level;
  if ((one == no_level) != (other == no_level))
    return found.note(fmt::format("edge {} - {} leads out of the tree", from, to));
  if (one == no_level) return;
  ++(from == to ? found.traversed.loops : found.traversed.edges);
  if (tree.distances.empty()) {
    if (one != wrong_level && other != wrong_level && apart(one, other) > 1)
      found.note(fmt::format("edge {} - {} joins levels {} and {}", from, to, one, other));
  } else if (!is_relaxed(i, tree)) {
    found.note(fmt::format("edge {} - {} of weight {} joins distances {} and {}", from, to, weights_[i],
                           tree.distances[from], tree.distances[to]));
  }
  if (from == to) return;
  for (const std::uint32_t level : {one, other})
    if (level < found.levels) ++found.level_ends[level];
  if (confirms(i, to, from, tree)) confirmed.set_shared(from);
  if (confirms(i, from, to, tree)) confirmed.set_shared(to);
}

void Validator::count_levels(TreeFindings& found, const Tree& tree) {
  for (const auto& [parent, level] : tree.places)
    if (level < unknown_level) found.levels = std::max(found.levels, level + 1);
  found.level_vertices.assign(found.levels, 0);
  found.level_ends.assign(found.levels, 0);
  for (const auto& [parent, level] : tree.places)
    if (level < found.levels) ++found.level_vertices[level];
}

void Validator::check_vertex(TreeFindings& found, const Tree& tree, Vertex root, Vertex vertex, Parent parent,
                             bool confirmed) const {
  ++found.checked;
  const std::uint32_t level = tree.places[vertex].level;
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
  Tree tree = tree_of(root, parents);
  // A rank without vertices has no distances either.
  if (weighted_ && team_.all_reduce<std::uint64_t>(distances.size(), Fold::maximum) > 0)
    tree.distances = gathered(distances);
  TreeFindings none;
  count_levels(none, tree);
  Bitmap confirmed(layout_.vertices());
  TreeFindings found = found_by_cores(none, edges_.size(), [&](TreeFindings& of_core, std::uint64_t edge) {
    check_edge(of_core, tree, confirmed, edge);
  });
  unite(confirmed);
  found.add(found_by_cores(none, layout_.count(), [&](TreeFindings& of_core, std::uint64_t local) {
    const Vertex vertex = layout_.first() + local;
    check_vertex(of_core, tree, root, vertex, parents[local], confirmed.test(vertex));
  }));
  return found;
}

// Parents out of range, whose level is wrong, are their vertex here, which no edge confirms.
Validator::Tree Validator::tree_of(Vertex root, std::span<const Parent> mine) {
  const std::vector<Parent> parents = gathered(mine);
  const std::vector<std::uint32_t> levels = levels_of(root, parents);
  Tree tree;
  tree.places.resize(parents.size());
  for (Vertex vertex = 0; vertex < parents.size(); ++vertex) {
    const bool inside = parents[vertex] >= 0 && static_cast<Vertex>(parents[vertex]) < parents.size();
    tree.places[vertex] = {static_cast<std::uint32_t>(inside ? static_cast<Vertex>(parents[vertex]) : vertex),
                           levels[vertex]};
  }
  return tree;
}

}  // namespace plumb::graph500
