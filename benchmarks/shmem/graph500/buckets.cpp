// Variant `bucketed`: words are put into an inbox of their owner, a bucket at a time, with a notice after each.
#include <algorithm>
#include <vector>

#include "benchmarks/shmem/graph500/courier.hpp"
#include "transport/idle.hpp"
#include "world/one_sided.hpp"
#include "world/watchdog.hpp"

namespace plumb::graph500 {

namespace {

constexpr std::uint64_t places = 4, place_words = 2048;          // of a source in an inbox; of a bucket, its head first
constexpr std::uint64_t most_words = 2046;                       // even: pairs stay together
constexpr std::uint64_t last_of_round = std::uint64_t{1} << 63;  // in a head, with the bucket's length

// Words of a rank's memory: per source a count of arrived buckets, per target a count of the buckets that it has
// taken, then the inbox.
struct Inbox {
  std::uint64_t ranks;
  static std::uint64_t words(std::uint64_t ranks) { return ranks * (2 + places * place_words); }
  std::uint64_t arrived(int from) const { return static_cast<std::uint64_t>(from); }
  std::uint64_t taken(int by) const { return ranks + static_cast<std::uint64_t>(by); }
  std::uint64_t place(int from, std::uint64_t bucket) const {
    return 2 * ranks + (static_cast<std::uint64_t>(from) * places + bucket % places) * place_words;
  }
};

class Buckets final : public Courier {
 public:
  Buckets(World& world, Take take)
      : take_(std::move(take)),
        rank_(world.rank()),
        inbox_{static_cast<std::uint64_t>(world.size())},
        memory_(make_one_sided(world, 8 * Inbox::words(inbox_.ranks), 1)),
        peers_(inbox_.ranks) {}

  void send(int rank, std::uint64_t word) override {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    peer.bucket[++peer.collected] = word;
    if (peer.collected == most_words) flush(rank, 0);
  }

  void finish() override {
    const Waiting waiting("buckets of other ranks");
    const int ranks = static_cast<int>(inbox_.ranks);
    for (int away = 1; away < ranks; ++away) flush((rank_ + away) % ranks, last_of_round);
    wait([&] { return ended_ + 1 == ranks; });
    ended_ = 0;
  }

 private:
  struct Peer {
    std::uint64_t collected = 0, sent = 0, received = 0;  // words; buckets; buckets
    std::vector<std::uint64_t> bucket = std::vector<std::uint64_t>(place_words);
  };

  void flush(int rank, std::uint64_t flag) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (peer.sent >= places) wait([&] { return memory_->reached(inbox_.taken(rank), peer.sent + 1 - places); });
    peer.bucket[0] = flag | peer.collected;
    memory_->put(0, 8 * inbox_.place(rank_, peer.sent), peer.bucket.data(), 8 * (1 + peer.collected), rank);
    memory_->notify(0, inbox_.arrived(rank_), ++peer.sent, rank);
    peer.collected = 0;
    poll();
  }

  // While waiting for others, takes arrived buckets, for which the others may wait.
  void wait(auto is_over) {
    Idle idle(true);
    for (unsigned looks = 1; !is_over(); ++looks)
      if (poll())
        idle.moved();
      else if (looks % 64 == 0)
        idle.look();
  }

  // Takes arrived buckets; false if there are none.
  bool poll() {
    bool moved = false;
    for (int from = 0; from < static_cast<int>(inbox_.ranks); ++from) {
      Peer& peer = peers_[static_cast<std::size_t>(from)];
      while (from != rank_ && memory_->reached(inbox_.arrived(from), peer.received + 1)) {
        const std::uint64_t* place = memory_->words() + inbox_.place(from, peer.received);
        take_({place + 1, place[0] & ~last_of_round});
        if ((place[0] & last_of_round) != 0) ++ended_;
        memory_->notify(0, inbox_.taken(rank_), ++peer.received, from);
        moved = true;
      }
    }
    if (moved) Waiting::progress();
    return moved;
  }

  Take take_;
  int rank_;
  Inbox inbox_;
  std::unique_ptr<OneSided> memory_;
  std::vector<Peer> peers_;
  int ended_ = 0;  // ranks whose last bucket of this round was taken
};

const RegisteredCourier registered_buckets("bucketed", [](World& world, Courier::Take take) {
  return std::make_unique<Buckets>(world, std::move(take));
});

}  // namespace

std::uint64_t bucket_bytes(int ranks) {
  return 8 * Inbox::words(static_cast<std::uint64_t>(ranks));
}

}  // namespace plumb::graph500
