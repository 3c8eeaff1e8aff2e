// Methods of updating the table: the loops of updates.hpp over one world's memory.
#pragma once

#include <functional>
#include <memory>

#include "benchmarks/shmem/gups/updates.hpp"
#include "world/one_sided.hpp"

namespace plumb::gups {

// get_put: read, xor, write, wait (the original's); atomic: atomic xor; bucketed: collected by destination and applied
// there; threaded: atomic xor by several threads.
enum class Way { get_put, atomic, bucketed, threaded };

// Words of memory for a rank's table and inboxes.
inline std::uint64_t memory_words(const Problem& problem) {
  return problem.words_of_rank() + Inboxes::words(problem.ranks());
}

class Updater {
 public:
  virtual ~Updater() = default;
  virtual OneSided& memory() = 0;  // this rank's words of the table first
  // Applies the share; collective. On return this rank's updates are complete. Returns the number of updates executed
  // by this rank, counted at their execution; for buckets, in its own part of the table.
  virtual std::uint64_t run(const Share& share) = 0;
};

// Collective. One context, or one per thread.
using UpdaterFactory = std::function<std::unique_ptr<Updater>(World&, const Problem&, Way, int threads)>;

template <class Memory>
class UpdaterOver : public Updater {
 public:
  UpdaterOver(World& world, const Problem& problem, Way way, int threads)
      : problem_(problem),
        way_(way),
        memory_(world, 8 * memory_words(problem), way == Way::threaded ? threads : 1),
        bucketed_(memory_, problem_, world.rank()) {}
  OneSided& memory() override { return memory_; }

  std::uint64_t run(const Share& share) override {
    const Waiting waiting("updates of the table");
    if (way_ == Way::get_put) return get_put(memory_, problem_, share);
    if (way_ == Way::atomic) return atomic(memory_, problem_, share, 0);
    if (way_ == Way::bucketed) return bucketed_.run(share);
    return threaded(memory_, problem_, share, memory_.contexts());
  }

 private:
  Problem problem_;
  Way way_;
  Memory memory_;
  Bucketed<Memory> bucketed_;
};

template <class Memory>
std::unique_ptr<Updater> make_updater(World& world, const Problem& problem, Way way, int threads) {
  return std::make_unique<UpdaterOver<Memory>>(world, problem, way, threads);
}

}  // namespace plumb::gups
