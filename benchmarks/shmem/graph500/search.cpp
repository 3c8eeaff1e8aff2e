#include "benchmarks/shmem/graph500/search.hpp"

#include <limits>

#include "benchmarks/shmem/graph500/delta_stepping.hpp"
#include "benchmarks/shmem/graph500/direction_optimising.hpp"
#include "benchmarks/shmem/graph500/put_atomic.hpp"

namespace plumb::graph500 {

void Search::poison() {
  std::fill(parents().begin(), parents().end(), unreached);
  std::fill(distances().begin(), distances().end(), std::numeric_limits<float>::quiet_NaN());
}

TopDown::TopDown(World& world, Team& team, const Graph& graph, const CourierFactory& make_courier)
    : team_(team),
      graph_(graph),
      layout_(graph.layout),
      parents_(layout_.count(), unreached),
      known_(layout_.vertices()) {
  frontier_.reserve(layout_.count());
  next_.reserve(layout_.count());
  courier_ = make_courier(world, [this](std::span<const std::uint64_t> words) {
    for (const std::uint64_t word : words) {
      const std::uint64_t local = word >> 32;
      if (known_.test(layout_.first() + local)) continue;
      known_.set(layout_.first() + local);
      reach(local, word & 0xffffffffu);
    }
  });
}

void TopDown::start(Vertex root) {
  known_.clear();
  frontier_.clear();
  next_.clear();
  if (!layout_.is_mine(root)) return;
  known_.set(root);
  reach(root - layout_.first(), root);
  std::swap(frontier_, next_);
}

void TopDown::follow() {
  for (const std::uint32_t local : frontier_) {
    const Vertex vertex = layout_.first() + local;
    for (const std::uint32_t found : graph_.row(local)) {
      if (known_.test(found)) continue;
      known_.set(found);
      if (layout_.is_mine(found)) {
        reach(found - layout_.first(), vertex);
      } else {
        const int owner = layout_.owner(found);
        courier_->send(owner, (found - layout_.first_of(owner)) << 32 | vertex);
      }
    }
  }
  courier_->finish();
}

void TopDown::run(Vertex root) {
  start(root);
  for (std::uint64_t reached = 1; reached > 0;) {
    follow();
    std::swap(frontier_, next_);
    next_.clear();
    reached = team_.all_reduce<std::uint64_t>(frontier_.size(), Fold::sum);
  }
}

namespace {

// A single rank sends nothing.
class Nobody final : public Courier {
 public:
  void send(int, std::uint64_t) override {}
  void finish() override {}
};

}  // namespace

CourierFactory courier_of(const std::string& name, int ranks) {
  if (ranks == 1) return [](World&, const Courier::Take&) { return std::make_unique<Nobody>(); };
  const CourierFactory* found = Registry<CourierFactory>::instance().find(name);
  if (found == nullptr) throw Unsupported("variant " + name + " does not work in this world");
  return *found;
}

std::unique_ptr<Search> make_search(World& world, Team& team, const Graph& graph, const SearchPlan& plan) {
  if (plan.variant == "direction-optimising") return std::make_unique<DirectionOptimising>(world, team, graph, plan);
  if (plan.variant == "put-atomic" || plan.variant == "threaded") {
    const int threads = plan.variant == "threaded" ? plan.threads : 1;
    return make_put_atomic(team, graph, make_one_sided(world, put_atomic_bytes(graph.layout), threads));
  }
  const CourierFactory courier = courier_of(plan.variant, team.size());
  if (plan.delta > 0)
    return std::make_unique<DeltaStepping>(world, team, graph, static_cast<float>(plan.delta), courier);
  return std::make_unique<TopDown>(world, team, graph, courier);
}

std::string best_courier() {
  return Registry<CourierFactory>::instance().find("messages") != nullptr ? "messages" : "bucketed";
}

std::uint64_t symmetric_bytes(const std::string& variant, const Layout& layout) {
  if (variant == "put-atomic" || variant == "threaded") return put_atomic_bytes(layout);
  if (variant == "bucketed" || (variant == "direction-optimising" && best_courier() == "bucketed"))
    return bucket_bytes(layout.ranks());
  return 0;
}

}  // namespace plumb::graph500
