#include "benchmarks/shmem/graph500/put_atomic.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <thread>

#include "world/watchdog.hpp"

namespace plumb::graph500 {

namespace {

constexpr std::size_t vertices_at_a_time = 64;  // per thread and turn

class PutAtomic final : public Search {
 public:
  PutAtomic(Team& team, const Graph& graph, std::unique_ptr<OneSided> memory)
      : team_(team),
        graph_(graph),
        layout_(graph.layout),
        bit_words_(layout_.block() / 64),
        memory_(std::move(memory)),
        tried_((layout_.vertices() + 63) / 64),
        seen_(bit_words_) {}

  std::span<Parent> parents() override {
    return {reinterpret_cast<Parent*>(memory_->words() + bit_words_), layout_.count()};
  }

  void run(Vertex root) override {
    const Waiting waiting("a search");
    std::fill(tried_.begin(), tried_.end(), 0);
    std::fill(seen_.begin(), seen_.end(), 0);
    std::fill_n(memory_->words(), bit_words_, 0);
    if (layout_.is_mine(root)) {
      const std::uint64_t local = root - layout_.first();
      memory_->words()[local / 64] |= std::uint64_t{1} << (local % 64);
      parents()[local] = static_cast<Parent>(root);
    }
    tried_[root / 64] |= std::uint64_t{1} << (root % 64);
    memory_->synchronise();
    while (take_level() > 0) {
      follow();
      memory_->synchronise();
    }
  }

 private:
  // Vertices claimed by any rank since the last call; this rank's are the frontier.
  std::uint64_t take_level() {
    frontier_.clear();
    for (std::size_t word = 0; word < bit_words_; ++word) {
      const std::uint64_t now = memory_->words()[word];
      for (std::uint64_t left = now & ~seen_[word]; left != 0; left &= left - 1)
        frontier_.push_back(static_cast<std::uint32_t>(64 * word) + static_cast<std::uint32_t>(std::countr_zero(left)));
      seen_[word] = now;
    }
    return team_.all_reduce<std::uint64_t>(frontier_.size(), Fold::sum);
  }

  void follow() {
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> others;
    for (int context = 1; context < memory_->contexts(); ++context)
      others.emplace_back([this, &next, context] { follow_some(next, context); });
    follow_some(next, 0);
    for (std::thread& other : others) other.join();
  }

  void follow_some(std::atomic<std::size_t>& next, int context) {
    for (;;) {
      const std::size_t begin = next.fetch_add(vertices_at_a_time);
      if (begin >= frontier_.size()) break;
      const std::size_t end = std::min(frontier_.size(), begin + vertices_at_a_time);
      for (std::size_t i = begin; i < end; ++i)
        for (const std::uint32_t found : graph_.row(frontier_[i]))
          if (is_first_try(found)) claim(found, layout_.first() + frontier_[i], context);
      if (context == 0) Waiting::progress();
    }
    memory_->quiet(context);
  }

  // Whether the vertex is new to all threads of this rank.
  bool is_first_try(std::uint32_t vertex) {
    const std::uint64_t bit = std::uint64_t{1} << (vertex % 64);
    const std::atomic_ref word(tried_[vertex / 64]);
    return (word.load(std::memory_order_relaxed) & bit) == 0 &&
           (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
  }

  void claim(Vertex vertex, Vertex parent, int context) {
    const int owner = layout_.owner(vertex);
    const std::uint64_t local = vertex - layout_.first_of(owner), bit = std::uint64_t{1} << (local % 64);
    if ((memory_->fetch_or(context, local / 64, bit, owner) & bit) == 0)
      memory_->put_word(context, bit_words_ + local, parent, owner);
  }

  Team& team_;
  const Graph& graph_;
  const Layout& layout_;
  std::uint64_t bit_words_;  // of a rank's memory: the bits of its vertices; then their parents
  std::unique_ptr<OneSided> memory_;
  std::vector<std::uint64_t> tried_, seen_;  // bits of all vertices; of this rank's
  std::vector<std::uint32_t> frontier_;
};

}  // namespace

std::uint64_t put_atomic_bytes(const Layout& layout) {
  return 8 * (layout.block() / 64 + layout.block());
}

std::unique_ptr<Search> make_put_atomic(Team& team, const Graph& graph, std::unique_ptr<OneSided> memory) {
  return std::make_unique<PutAtomic>(team, graph, std::move(memory));
}

}  // namespace plumb::graph500
