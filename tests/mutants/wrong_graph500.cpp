// Graph500 with searches that leave a wrong tree or die, with couriers that lose words, and with wrong graphs.
// Each is a separate benchmark, mutant-graph500-NAME.
#include <cmath>
#include <csignal>
#include <limits>
#include <map>
#include <optional>

#include "benchmarks/shmem/graph500/delta_stepping.hpp"
#include "benchmarks/shmem/graph500/direction_optimising.hpp"
#include "benchmarks/shmem/graph500/graph500.hpp"
#include "benchmarks/shmem/graph500/put_atomic.hpp"
#include "tests/mutants/served_memory.hpp"

namespace plumb::graph500 {

namespace {

class WrongGraph500 : public Graph500 {
 public:
  explicit WrongGraph500(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }

 private:
  std::string name_;
};

// A correct tree, with one change on the rank that has it.
class WrongTree : public WrongGraph500 {
 public:
  struct Tree {
    const Graph& graph;
    Vertex root;
    std::vector<Parent> parents;        // of all vertices
    std::vector<std::uint32_t> levels;  // likewise
    std::vector<float> distances;       // likewise, or empty

    bool is_edge(Vertex mine, Vertex other) const {
      const auto row = graph.row(mine - graph.layout.first());
      return std::find(row.begin(), row.end(), other) != row.end();
    }
    // The first vertex for which `suits`; the predicate may use edges of this rank only.
    Vertex find(auto suits) const {
      for (Vertex vertex = 0; vertex < parents.size(); ++vertex)
        if (suits(vertex)) return vertex;
      return parents.size();
    }
  };
  // A vertex, its new parent and its new distance; `vertex` is the number of all vertices if none suits.
  struct Change {
    Vertex vertex;
    Parent parent;
    std::optional<float> distance = {};
  };
  using Spoil = std::vector<Change> (*)(const Tree&);

  WrongTree(std::string name, Spoil spoil) : WrongGraph500(std::move(name)), spoil_(spoil) {}

 protected:
  void search(Search& search, Vertex root) override {
    search.run(root);
    const Layout& layout = graph().layout;
    std::vector<std::size_t> counts;
    for (int rank = 0; rank < layout.ranks(); ++rank) counts.push_back(layout.count_of(rank));
    Tree tree{graph(), root, std::vector<Parent>(layout.vertices()), {}, {}};
    team().all_gather<Parent>(search.parents(), tree.parents, counts);
    tree.levels = levels_of(root, tree.parents);
    if (team().all_reduce<std::uint64_t>(search.distances().size(), Fold::maximum) > 0) {
      tree.distances.resize(layout.vertices());
      team().all_gather<float>(search.distances(), tree.distances, counts);
    }
    for (const Change& change : spoil_(tree)) {
      if (!layout.is_mine(change.vertex)) continue;
      search.parents()[change.vertex - layout.first()] = change.parent;
      if (change.distance) search.distances()[change.vertex - layout.first()] = *change.distance;
    }
  }

 private:
  Spoil spoil_;
};

using Tree = WrongTree::Tree;
using Changes = std::vector<WrongTree::Change>;

bool is_mine(const Tree& tree, Vertex vertex) {
  return tree.graph.layout.is_mine(vertex);
}

Parent as_parent(Vertex vertex) {
  return static_cast<Parent>(vertex);
}

// A vertex gets a parent of the level above it without an edge between them.
Changes no_such_edge(const Tree& tree) {
  for (Vertex vertex = 0; vertex < tree.parents.size(); ++vertex) {
    const std::uint32_t level = tree.levels[vertex];
    if (!is_mine(tree, vertex) || level < 2 || level == no_level) continue;
    const Vertex other =
        tree.find([&](Vertex parent) { return tree.levels[parent] + 1 == level && !tree.is_edge(vertex, parent); });
    if (other < tree.parents.size()) return {{vertex, as_parent(other)}};
  }
  return {};
}

// A vertex of level 2 gets a neighbour of its own level as parent.
Changes level_too_deep(const Tree& tree) {
  for (Vertex vertex = 0; vertex < tree.parents.size(); ++vertex) {
    if (!is_mine(tree, vertex) || tree.levels[vertex] != 2) continue;
    const Vertex other =
        tree.find([&](Vertex parent) { return tree.levels[parent] == 2 && tree.is_edge(vertex, parent); });
    if (other < tree.parents.size()) return {{vertex, as_parent(other)}};
  }
  return {};
}

// A vertex and its child are each other's parents.
Changes pair_in_a_circle(const Tree& tree) {
  const Vertex child = tree.find([&](Vertex vertex) { return tree.levels[vertex] == 2; });
  if (child == tree.parents.size()) return {};
  return {{static_cast<Vertex>(tree.parents[child]), as_parent(child)}};
}

// A vertex gets its grandchild as parent.
Changes three_in_a_circle(const Tree& tree) {
  const Vertex child = tree.find([&](Vertex vertex) { return tree.levels[vertex] == 3; });
  if (child == tree.parents.size()) return {};
  const auto top = static_cast<Vertex>(tree.parents[static_cast<Vertex>(tree.parents[child])]);
  return {{top, as_parent(child)}};
}

// Two vertices of another component are each other's parents: reference 3.0 accepts this.
Changes pair_elsewhere(const Tree& tree) {
  for (Vertex vertex = 0; vertex < tree.parents.size(); ++vertex) {
    if (!is_mine(tree, vertex) || tree.levels[vertex] != no_level) continue;
    for (const std::uint32_t other : tree.graph.row(vertex - tree.graph.layout.first()))
      return {{vertex, as_parent(other)}, {other, as_parent(vertex)}};
  }
  return {};
}

Changes rank_unreached(const Tree& tree) {
  Changes all;
  if (const Layout& layout = tree.graph.layout; layout.rank() == layout.ranks() - 1)
    for (std::uint64_t i = 0; i < layout.count(); ++i) all.push_back({layout.first() + i, unreached});
  return all;
}

Changes nothing_reached(const Tree& tree) {
  Changes all;
  for (Vertex vertex = 0; vertex < tree.parents.size(); ++vertex) all.push_back({vertex, unreached});
  return all;
}

// The last vertex reached.
Vertex deepest(const Tree& tree) {
  Vertex found = tree.root;
  for (Vertex vertex = 0; vertex < tree.parents.size(); ++vertex)
    if (tree.levels[vertex] != no_level && tree.levels[vertex] >= tree.levels[found]) found = vertex;
  return found;
}

Changes last_unreached(const Tree& tree) {
  return {{deepest(tree), unreached}};
}
Changes own_parent(const Tree& tree) {
  return {{deepest(tree), as_parent(deepest(tree))}};
}
Changes parent_too_large(const Tree& tree) {
  return {{deepest(tree), as_parent(tree.parents.size())}};
}
Changes parent_below_range(const Tree& tree) {
  return {{deepest(tree), -2}};
}
Changes root_without_itself(const Tree& tree) {
  const Vertex child = tree.find([&](Vertex vertex) { return tree.levels[vertex] == 1; });
  return {{tree.root, as_parent(child)}};
}

// The last vertex reached gets another distance.
template <class Change>
Changes other_distance(const Tree& tree, Change change) {
  const Vertex vertex = deepest(tree);
  return {{vertex, tree.parents[vertex], change(tree.distances[vertex])}};
}
constexpr float infinity = std::numeric_limits<float>::infinity();

Changes just_too_long(const Tree& tree) {
  return other_distance(tree, [](float distance) { return std::nextafter(distance, infinity); });
}
Changes just_too_short(const Tree& tree) {
  return other_distance(tree, [](float distance) { return std::nextafter(distance, 0.0f); });
}
Changes no_number(const Tree& tree) {
  return other_distance(tree, [](float) { return std::numeric_limits<float>::quiet_NaN(); });
}
Changes infinitely_long(const Tree& tree) {
  return other_distance(tree, [](float) { return infinity; });
}
Changes root_apart(const Tree& tree) {
  return {{tree.root, as_parent(tree.root), std::numeric_limits<float>::denorm_min()}};
}
// All are longer by the same, so that edges fit.
Changes all_apart(const Tree& tree) {
  Changes all;
  for (Vertex vertex = 0; vertex < tree.parents.size(); ++vertex)
    all.push_back({vertex, tree.parents[vertex], tree.distances[vertex] + 1});
  return all;
}
Changes near_elsewhere(const Tree& tree) {
  const Vertex vertex = tree.find([&](Vertex one) { return tree.levels[one] == no_level; });
  return {{vertex, unreached, 1.0f}};
}
// A vertex gets another neighbour of a lower level as parent.
Changes other_parent(const Tree& tree) {
  for (Vertex vertex = 0; vertex < tree.parents.size(); ++vertex) {
    if (!is_mine(tree, vertex) || tree.levels[vertex] == no_level) continue;
    const Vertex other = tree.find([&](Vertex parent) {
      return as_parent(parent) != tree.parents[vertex] && tree.levels[parent] < tree.levels[vertex] &&
             tree.is_edge(vertex, parent);
    });
    if (other < tree.parents.size()) return {{vertex, as_parent(other)}};
  }
  return {};
}
// Two neighbours at equal distances, joined by a weight of zero, are each other's parents.
Changes circle_of_nothing(const Tree& tree) {
  for (Vertex vertex = 0; vertex < tree.parents.size(); ++vertex) {
    if (!is_mine(tree, vertex) || vertex == tree.root || tree.levels[vertex] == no_level) continue;
    for (const std::uint32_t other : tree.graph.row(vertex - tree.graph.layout.first()))
      if (other != tree.root && tree.distances[other] == tree.distances[vertex])
        return {{vertex, as_parent(other)}, {other, as_parent(vertex)}};
  }
  return {};
}

// Every search starts from the warm-up's root, whose tree is right.
class LastRoots : public WrongGraph500 {
 public:
  using WrongGraph500::WrongGraph500;

 protected:
  void search(Search& search, Vertex root) override {
    if (!first_) first_ = root;
    search.run(*first_);
  }

 private:
  std::optional<Vertex> first_;
};

class TalliedTwice : public WrongGraph500 {
 public:
  using WrongGraph500::WrongGraph500;

 protected:
  Traversed traversed(std::span<const Parent> parents) const override {
    const Traversed right = WrongGraph500::traversed(parents);
    return {2 * right.edges, right.loops};
  }
};

// Kernel 1 gets another list, on the last rank that has edges.
class WrongList : public WrongGraph500 {
 public:
  using Spoil = void (*)(EdgeList&);
  WrongList(std::string name, Spoil spoil) : WrongGraph500(std::move(name)), spoil_(spoil) {}

 protected:
  EdgeList list(const EdgeRange& share) const override {
    EdgeList list = WrongGraph500::list(share);
    if (share.first + share.count == plan().edges()) spoil_(list);
    return list;
  }

 private:
  Spoil spoil_;
};

void edge_lost(EdgeList& list) {
  list.edges.pop_back();
}
void edge_twice(EdgeList& list) {
  list.edges.push_back(list.edges.back());
  if (!list.weights.empty()) list.weights.push_back(list.weights.back());
}
void other_weight(EdgeList& list) {
  for (std::size_t i = 0; i < list.edges.size(); ++i)
    if (!list.edges[i].is_loop()) {
      list.weights[i] = std::nextafter(list.weights[i], 1.0f);
      return;
    }
}
// The same number of neighbours for each, but different ones.
void ends_swapped(EdgeList& list) {
  std::vector<Edge>& edges = list.edges;
  const Edge& first = edges.front();
  for (Edge& other : edges)
    if (!other.is_loop() && !first.is_loop() && other.to != first.to && other.from != first.from &&
        other.to != first.from && other.from != first.to) {
      std::swap(edges.front().to, other.to);
      return;
    }
}

class OtherGenerator : public WrongGraph500 {
 public:
  using WrongGraph500::WrongGraph500;

 protected:
  EdgeList list(const EdgeRange& share) const override {
    GraphPlan other = plan();
    other.generator_2_1 = !other.generator_2_1;
    EdgeList list;
    list.edges.resize(share.count);
    Generator(other).make(share, list.edges);
    return list;
  }
};

// The last words of each round to each rank are not sent.
class LastWordsLost : public Courier {
 public:
  LastWordsLost(std::unique_ptr<Courier> right, int ranks)
      : right_(std::move(right)), held_(static_cast<std::size_t>(ranks)) {}
  void send(int rank, std::uint64_t word) override {
    auto& held = held_[static_cast<std::size_t>(rank)];
    if (held) right_->send(rank, *held);
    held = word;
  }
  void finish() override {
    for (auto& held : held_) held.reset();
    right_->finish();
  }

 private:
  std::unique_ptr<Courier> right_;
  std::vector<std::optional<std::uint64_t>> held_;
};

// Every second word for one of a rank's first vertices, of which each rank has some, goes to the rank after it.
class WrongRanks : public Courier {
 public:
  WrongRanks(std::unique_ptr<Courier> right, int ranks, int here)
      : right_(std::move(right)), ranks_(ranks), here_(here) {}
  void send(int rank, std::uint64_t word) override {
    const int other = (rank + 1) % ranks_;
    if (word >> 32 >= 64 || ++calls_ % 2 != 0) return right_->send(rank, word);
    if (other != here_) right_->send(other, word);
  }
  void finish() override { right_->finish(); }

 private:
  std::unique_ptr<Courier> right_;
  int ranks_, here_;
  std::uint64_t calls_ = 0;
};

// A search by the variant's own courier, wrapped.
class WrongCourier : public WrongGraph500 {
 public:
  using Wrap = std::unique_ptr<Courier> (*)(std::unique_ptr<Courier>, World&);
  WrongCourier(std::string name, Wrap wrap) : WrongGraph500(std::move(name)), wrap_(wrap) {}

 protected:
  std::unique_ptr<Search> make_search(World& world, const SearchPlan& plan) override {
    const CourierFactory right = *Registry<CourierFactory>::instance().find(plan.variant);
    const CourierFactory wrong = [right, wrap = wrap_](World& of, Courier::Take take) {
      return wrap(right(of, std::move(take)), of);
    };
    if (plan.delta > 0)
      return std::make_unique<DeltaStepping>(world, team(), graph(), static_cast<float>(plan.delta), wrong);
    return std::make_unique<TopDown>(world, team(), graph(), wrong);
  }

 private:
  Wrap wrap_;
};

// Of relaxations, each pair for a vertex but the first one to it is dropped.
class SentOnce : public Courier {
 public:
  explicit SentOnce(std::unique_ptr<Courier> right) : right_(std::move(right)) {}
  void send(int rank, std::uint64_t word) override {
    if (!place_) {
      place_ = word;
      return;
    }
    auto& sent = sent_[{rank, *place_ >> 32}];
    if (!sent) {
      right_->send(rank, *place_);
      right_->send(rank, word);
    }
    sent = true;
    place_.reset();
  }
  void finish() override { right_->finish(); }

 private:
  std::unique_ptr<Courier> right_;
  std::optional<std::uint64_t> place_;
  std::map<std::pair<int, std::uint64_t>, bool> sent_;
};

std::unique_ptr<Courier> sent_once(std::unique_ptr<Courier> right, World&) {
  return std::make_unique<SentOnce>(std::move(right));
}
std::unique_ptr<Courier> last_words_lost(std::unique_ptr<Courier> right, World& world) {
  return std::make_unique<LastWordsLost>(std::move(right), world.size());
}
std::unique_ptr<Courier> wrong_ranks(std::unique_ptr<Courier> right, World& world) {
  return std::make_unique<WrongRanks>(std::move(right), world.size(), world.rank());
}

// Uses the gathered bits of the previous level.
class StaleBits : public DirectionOptimising {
 public:
  using DirectionOptimising::DirectionOptimising;

 protected:
  void gather(Bitmap& mine, Bitmap& all) override {
    DirectionOptimising::gather(mine, all);
    const std::vector<std::uint64_t> now(all.words().begin(), all.words().end());
    last_.resize(now.size());
    std::copy(last_.begin(), last_.end(), all.words().begin());
    last_ = now;
  }

 private:
  std::vector<std::uint64_t> last_;
};

class StaleBitmap : public WrongGraph500 {
 public:
  using WrongGraph500::WrongGraph500;

 protected:
  std::unique_ptr<Search> make_search(World& world, const SearchPlan& plan) override {
    return std::make_unique<StaleBits>(world, team(), graph(), plan);
  }
};

// The last rank dies within the first level bottom-up of its fourth search, one of which was the warm-up's.
class DyingSearch : public DirectionOptimising {
 public:
  DyingSearch(World& world, Team& team, const Graph& graph, const SearchPlan& plan)
      : DirectionOptimising(world, team, graph, plan), last_(world.rank() == world.size() - 1) {}
  void run(Vertex root) override {
    ++searches_;
    DirectionOptimising::run(root);
  }

 protected:
  void gather(Bitmap& mine, Bitmap& all) override {
    if (last_ && searches_ == 4) std::raise(SIGKILL);
    DirectionOptimising::gather(mine, all);
  }

 private:
  bool last_;
  int searches_ = 0;
};

class DiesInALevel : public WrongGraph500 {
 public:
  using WrongGraph500::WrongGraph500;

 protected:
  std::unique_ptr<Search> make_search(World& world, const SearchPlan& plan) override {
    return std::make_unique<DyingSearch>(world, team(), graph(), plan);
  }
};

class HeavyLeftOut : public DeltaStepping {
 public:
  using DeltaStepping::DeltaStepping;

 protected:
  void relax_heavy() override {}
};

class LastBucketsLeft : public DeltaStepping {
 public:
  using DeltaStepping::DeltaStepping;

 protected:
  std::uint64_t next_bucket(std::uint64_t bucket) override {
    const std::uint64_t next = DeltaStepping::next_bucket(bucket);
    return next >= 4 ? no_bucket : next;
  }
};

template <class Wrong>
class WrongSteps : public WrongGraph500 {
 public:
  using WrongGraph500::WrongGraph500;

 protected:
  std::unique_ptr<Search> make_search(World& world, const SearchPlan& plan) override {
    const CourierFactory courier = *Registry<CourierFactory>::instance().find(plan.variant);
    return std::make_unique<Wrong>(world, team(), graph(), static_cast<float>(plan.delta), courier);
  }
};

// Words are never put.
class WordsNeverPut : public mutants::LateWords {
 public:
  using LateWords::LateWords;
  void quiet(int) override {}
};

template <class Memory>
class OverMemory : public WrongGraph500 {
 public:
  using WrongGraph500::WrongGraph500;

 protected:
  std::unique_ptr<Search> make_search(World& world, const SearchPlan&) override {
    auto right = make_one_sided(world, put_atomic_bytes(graph().layout), 1);
    return make_put_atomic(team(), graph(), std::make_unique<Memory>(std::move(right)));
  }
};

template <class Wrong, class... More>
RegisteredBenchmark wrong_graph500(const std::string& name, More... more) {
  const std::string whole = "mutant-graph500-" + name;
  return {whole, [whole, more...] { return std::make_unique<Wrong>(whole, more...); }};
}

const RegisteredBenchmark all_wrong_graph500[] = {
    wrong_graph500<WrongTree>("no-such-edge", no_such_edge),
    wrong_graph500<WrongTree>("level-too-deep", level_too_deep),
    wrong_graph500<WrongTree>("pair-in-a-circle", pair_in_a_circle),
    wrong_graph500<WrongTree>("three-in-a-circle", three_in_a_circle),
    wrong_graph500<WrongTree>("pair-elsewhere", pair_elsewhere),
    wrong_graph500<WrongTree>("rank-unreached", rank_unreached),
    wrong_graph500<WrongTree>("nothing-reached", nothing_reached),
    wrong_graph500<WrongTree>("last-unreached", last_unreached),
    wrong_graph500<WrongTree>("own-parent", own_parent),
    wrong_graph500<WrongTree>("parent-too-large", parent_too_large),
    wrong_graph500<WrongTree>("parent-below-range", parent_below_range),
    wrong_graph500<WrongTree>("root-without-itself", root_without_itself),
    wrong_graph500<WrongTree>("just-too-long", just_too_long),
    wrong_graph500<WrongTree>("just-too-short", just_too_short),
    wrong_graph500<WrongTree>("no-number", no_number),
    wrong_graph500<WrongTree>("infinitely-long", infinitely_long),
    wrong_graph500<WrongTree>("root-apart", root_apart),
    wrong_graph500<WrongTree>("all-apart", all_apart),
    wrong_graph500<WrongTree>("near-elsewhere", near_elsewhere),
    wrong_graph500<WrongTree>("other-parent", other_parent),
    wrong_graph500<WrongTree>("circle-of-nothing", circle_of_nothing),
    wrong_graph500<WrongSteps<HeavyLeftOut>>("heavy-left-out"),
    wrong_graph500<WrongSteps<LastBucketsLeft>>("last-buckets-left"),
    wrong_graph500<WrongCourier>("sent-once", sent_once),
    wrong_graph500<WrongList>("other-weight", other_weight),
    wrong_graph500<LastRoots>("last-roots"),
    wrong_graph500<TalliedTwice>("tallied-twice"),
    wrong_graph500<WrongList>("edge-lost", edge_lost),
    wrong_graph500<WrongList>("edge-twice", edge_twice),
    wrong_graph500<WrongList>("ends-swapped", ends_swapped),
    wrong_graph500<OtherGenerator>("other-generator"),
    wrong_graph500<WrongCourier>("last-words-lost", last_words_lost),
    wrong_graph500<WrongCourier>("wrong-ranks", wrong_ranks),
    wrong_graph500<StaleBitmap>("stale-bitmap"),
    wrong_graph500<DiesInALevel>("dies-in-a-level"),
    wrong_graph500<OverMemory<WordsNeverPut>>("quiet-left-out"),
    wrong_graph500<OverMemory<mutants::LateWords>>("passes-late"),
};

}  // namespace

}  // namespace plumb::graph500
