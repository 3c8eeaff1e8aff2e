#include <algorithm>
#include <barrier>
#include <thread>

#include "benchmarks/shmem/ssca1/kernel1.hpp"
#include "world/watchdog.hpp"

namespace plumb::ssca1 {

namespace {

constexpr std::uint64_t arrays = 9;  // V by anti-diagonal mod 3, E and F by anti-diagonal mod 2, main, match

// Every array has `block` words on each rank: element i lies on rank i / block.
class PutGet final : public Kernel1 {
 public:
  PutGet(World& world, const Problem& problem, std::unique_ptr<OneSided> memory)
      : problem_(problem),
        ranks_(static_cast<std::uint64_t>(world.size())),
        rank_(static_cast<std::uint64_t>(world.rank())),
        length_(problem.length()),
        block_((length_ + ranks_ - 1) / ranks_),
        memory_(std::move(memory)) {}

  void reset() override {
    std::fill_n(memory_->words(), arrays * block_, ~std::uint64_t{0} / 2);
    for (std::uint64_t i = 0; i < block_ && rank_ * block_ + i < length_; ++i) {
      memory_->words()[main * block_ + i] = problem_.strings.main[rank_ * block_ + i];
      memory_->words()[match * block_ + i] = problem_.strings.match[rank_ * block_ + i];
    }
    memory_->synchronise();
  }

  Found run() override {
    const Waiting waiting("cells of an anti-diagonal");
    std::vector<Found> found(static_cast<std::size_t>(memory_->contexts()));
    std::barrier<> line(memory_->contexts());
    std::vector<std::thread> others;
    for (int context = 1; context < memory_->contexts(); ++context)
      others.emplace_back([&, context] { sweep(context, line, found[static_cast<std::size_t>(context)]); });
    sweep(0, line, found[0]);
    for (std::thread& other : others) other.join();
    for (std::size_t i = 1; i < found.size(); ++i) {
      found[0].ends.insert(found[0].ends.end(), found[i].ends.begin(), found[i].ends.end());
      found[0].cells += found[i].cells;
    }
    return std::move(found[0]);
  }

  Json facts() const override { return {{"threads", memory_->contexts()}}; }

 private:
  enum Array : std::uint64_t { v = 0, e = 3, f = 5, main = 7, match = 8 };

  void sweep(int context, std::barrier<>& line, Found& found) {
    const std::uint64_t share =
        rank_ * static_cast<std::uint64_t>(memory_->contexts()) + static_cast<unsigned>(context);
    const std::uint64_t shares = ranks_ * static_cast<std::uint64_t>(memory_->contexts());
    for (std::uint64_t diagonal = 0; diagonal + 1 < 2 * length_; ++diagonal) {
      const std::uint64_t first = diagonal < length_ ? 0 : diagonal - length_ + 1;
      const std::uint64_t cells = std::min(diagonal, length_ - 1) - first + 1;
      const std::uint64_t end = first + cells * (share + 1) / shares;
      for (std::uint64_t m = first + cells * share / shares; m < end; ++m) score(context, diagonal, m, found);
      memory_->quiet(context);
      line.arrive_and_wait();
      if (context == 0) {
        memory_->synchronise();
        Waiting::progress();
      }
      line.arrive_and_wait();
    }
  }

  void score(int context, std::uint64_t diagonal, std::uint64_t m, Found& found) {
    const std::uint64_t n = diagonal - m, now = diagonal % 2, before = 1 - now;
    const Scores& scores = problem_.scores;
    const int weight = scores.of(static_cast<Codon>(get(context, main, m)), static_cast<Codon>(get(context, match, n)));
    const std::int64_t corner = m > 0 && n > 0 ? get(context, v + (diagonal + 1) % 3, m - 1) : 0;
    const std::int64_t along = n > 0 ? get(context, e + before, m) : 0;
    const std::int64_t down = m > 0 ? get(context, f + before, m - 1) : 0;
    const std::int64_t pair = corner + weight, best = std::max({std::int64_t{0}, along, down, pair});
    if (best > problem_.minimum && best == pair && may_end(problem_.strings, scores, m, n))
      found.ends.push_back({best, m, n});
    const std::int64_t begun = pair - scores.gap(1);
    put(context, v + diagonal % 3, m, best);
    put(context, e + now, m, std::max(along - scores.gap_extend, begun));
    put(context, f + now, m, std::max(down - scores.gap_extend, begun));
    ++found.cells;
  }

  std::int64_t get(int context, std::uint64_t array, std::uint64_t i) {
    return static_cast<std::int64_t>(memory_->get_word(context, array * block_ + i % block_, owner(i)));
  }
  void put(int context, std::uint64_t array, std::uint64_t i, std::int64_t value) {
    memory_->put_word(context, array * block_ + i % block_, static_cast<std::uint64_t>(value), owner(i));
  }
  int owner(std::uint64_t i) const { return static_cast<int>(i / block_); }

  const Problem& problem_;
  std::uint64_t ranks_, rank_, length_, block_;
  std::unique_ptr<OneSided> memory_;
};

}  // namespace

std::uint64_t put_get_bytes(std::uint64_t length, int ranks) {
  const auto parts = static_cast<std::uint64_t>(ranks);
  return 8 * arrays * ((length + parts - 1) / parts);
}

std::unique_ptr<Kernel1> make_put_get(World& world, const Problem& problem, std::unique_ptr<OneSided> memory) {
  return std::make_unique<PutGet>(world, problem, std::move(memory));
}

}  // namespace plumb::ssca1
