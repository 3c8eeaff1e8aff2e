// Loops that update a table in all ranks' memory, for any class with the operations of world/one_sided.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "benchmarks/shmem/gups/problem.hpp"
#include "device/host_memory.hpp"
#include "transport/idle.hpp"
#include "world/watchdog.hpp"

namespace plumb::gups {

// Each returns the number of updates executed.

// Read, xor, write, each complete before the next update: concurrent updates of other ranks may be lost.
template <class Memory>
std::uint64_t get_put(Memory& memory, const Problem& problem, const Share& share) {
  std::uint64_t word = random_access::start(problem.stream(), share.first), made = 0;
  for (; made < share.count; ++made) {
    word = after(problem.stream(), word);
    const Target target = problem.target(word);
    memory.put_word(0, target.word, memory.get_word(0, target.word, target.rank) ^ word, target.rank);
    memory.quiet(0);
    if (made % look_ahead == 0) Waiting::progress();
  }
  return made;
}

// Atomic xors, as many in progress as allowed.
template <class Memory>
std::uint64_t atomic(Memory& memory, const Problem& problem, const Share& share, int context) {
  std::uint64_t word = random_access::start(problem.stream(), share.first), made = 0;
  while (made < share.count) {
    const std::uint64_t some = std::min(share.count - made, look_ahead);
    for (std::uint64_t i = 0; i < some; ++i) {
      word = after(problem.stream(), word);
      const Target target = problem.target(word);
      memory.atomic_xor(context, target.word, word, target.rank);
    }
    memory.quiet(context);
    made += some;
    Waiting::progress();
  }
  return made;
}

// Atomic xors by several threads, each with its own context, run of the stream and look-ahead.
template <class Memory>
std::uint64_t threaded(Memory& memory, const Problem& problem, const Share& share, int threads) {
  std::vector<std::thread> others;
  std::vector<std::uint64_t> made(static_cast<std::size_t>(threads));
  const auto part = [&](int thread) {
    const std::uint64_t each = share.count / static_cast<std::uint64_t>(threads);
    const std::uint64_t begin = each * static_cast<std::uint64_t>(thread);
    return Share{share.first + begin, thread + 1 == threads ? share.count - begin : each};
  };
  for (int thread = 1; thread < threads; ++thread)
    others.emplace_back(
        [&, thread] { made[static_cast<std::size_t>(thread)] = atomic(memory, problem, part(thread), thread); });
  made[0] = atomic(memory, problem, part(0), 0);
  for (std::thread& other : others) other.join();
  return std::accumulate(made.begin(), made.end(), std::uint64_t{0});
}

// Sizes of the inboxes in words: for each source counts of arrived and of taken buckets, then places for buckets.
struct Inboxes {
  // Of look_ahead updates, a quarter waits in buckets, the others are in transit.
  static constexpr std::uint64_t pool = look_ahead / 4, places = 4, place_words = 1 + pool;

  std::uint64_t first;  // word of the memory
  int ranks;

  static std::uint64_t words(int ranks) { return static_cast<std::uint64_t>(ranks) * (2 + places * place_words); }
  std::uint64_t arrived(int from) const { return first + static_cast<std::uint64_t>(from); }
  std::uint64_t taken(int by) const { return arrived(ranks) + static_cast<std::uint64_t>(by); }
  std::uint64_t place(int from, std::uint64_t bucket) const {
    return taken(ranks) + (static_cast<std::uint64_t>(from) * places + bucket % places) * place_words;
  }
};

// Updates are collected by destination rank, put into its inbox in buckets, and applied there. Reusable for any number
// of runs, as the inboxes' counts continue.
template <class Memory>
class Bucketed {
 public:
  Bucketed(Memory& memory, const Problem& problem, int rank)
      : memory_(memory),
        problem_(problem),
        rank_(rank),
        inboxes_{problem.words_of_rank(), problem.ranks()},
        peers_(static_cast<std::size_t>(problem.ranks())) {}

  // Collective; on return all ranks' updates to this rank's part are applied. Returns their number.
  std::uint64_t run(const Share& share) {
    applied_ = 0;
    std::uint64_t word = random_access::start(problem_.stream(), share.first);
    for (std::uint64_t i = 0; i < share.count; ++i) {
      word = after(problem_.stream(), word);
      Peer& peer = peers_[static_cast<std::size_t>(problem_.target(word).rank)];
      peer.bucket[++peer.collected] = word;
      if (++pooled_ < Inboxes::pool) continue;
      flush(fullest());
      poll();
    }
    for (int rank = 0; rank < problem_.ranks(); ++rank)
      if (peers_[static_cast<std::size_t>(rank)].collected > 0) flush(rank);
    end();
    return applied_;
  }

 private:
  static constexpr std::uint64_t last = std::uint64_t{1} << 63;  // flag in a bucket's header, beside its length

  struct Peer {
    std::uint64_t collected = 0, sent = 0, received = 0;  // updates; buckets; buckets
    std::vector<std::uint64_t> bucket = std::vector<std::uint64_t>(Inboxes::place_words);
  };
  struct UnderWay {
    int rank;
    std::uint64_t bucket, updates;
  };

  int fullest() const {
    const auto less = [](const Peer& a, const Peer& b) { return a.collected < b.collected; };
    return static_cast<int>(std::max_element(peers_.begin(), peers_.end(), less) - peers_.begin());
  }

  void flush(int rank) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    pooled_ -= peer.collected;
    if (rank == rank_) {
      apply({peer.bucket.data() + 1, peer.collected});
    } else {
      while (on_the_way_ + peer.collected > look_ahead - Inboxes::pool) wait_for_oldest();
      under_way_.push_back({rank, peer.sent + 1, peer.collected});
      on_the_way_ += peer.collected;
      send(rank, peer.collected);
    }
    peer.collected = 0;
  }

  void send(int rank, std::uint64_t head) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (peer.sent >= Inboxes::places) wait_taken(rank, peer.sent + 1 - Inboxes::places);
    peer.bucket[0] = head;
    const std::uint64_t words = 1 + (head & ~last);
    memory_.put(0, 8 * inboxes_.place(rank_, peer.sent), peer.bucket.data(), 8 * words, rank);
    memory_.notify(0, inboxes_.arrived(rank_), ++peer.sent, rank);
  }

  void wait_for_oldest() {
    const UnderWay oldest = under_way_.front();
    wait_taken(oldest.rank, oldest.bucket);
    on_the_way_ -= oldest.updates;
    under_way_.pop_front();
  }

  // Applies received buckets while waiting for other ranks, as they do.
  void wait_taken(int rank, std::uint64_t bucket) {
    Idle idle(true);
    for (unsigned looks = 1; !memory_.reached(inboxes_.taken(rank), bucket); ++looks)
      if (poll())
        idle.moved();
      else if (looks % 64 == 0)
        idle.look();
  }

  // Applies arrived buckets; returns whether there were any.
  bool poll() {
    bool moved = false;
    for (int from = 0; from < problem_.ranks(); ++from) {
      Peer& peer = peers_[static_cast<std::size_t>(from)];
      while (from != rank_ && memory_.reached(inboxes_.arrived(from), peer.received + 1)) {
        const std::uint64_t* place = memory_.words() + inboxes_.place(from, peer.received);
        if ((place[0] & last) != 0) ++ended_;
        apply({place + 1, place[0] & ~last});
        memory_.notify(0, inboxes_.taken(rank_), ++peer.received, from);
        moved = true;
      }
    }
    if (moved) Waiting::progress();
    return moved;
  }

  void apply(std::span<const std::uint64_t> updates) {
    std::uint64_t* table = memory_.words();
    for (const std::uint64_t word : updates) fetch_to_write(table + problem_.target(word).word);
    for (const std::uint64_t word : updates) table[problem_.target(word).word] ^= word;
    applied_ += updates.size();
  }

  // Signals the end to all others, and continues until all have signalled it.
  void end() {
    for (int rank = 0; rank < problem_.ranks(); ++rank)
      if (rank != rank_) send(rank, last);
    Idle idle(true);
    for (unsigned looks = 1; ended_ + 1 < problem_.ranks(); ++looks)
      if (poll())
        idle.moved();
      else if (looks % 64 == 0)
        idle.look();
    ended_ -= problem_.ranks() - 1;
  }

  Memory& memory_;
  const Problem& problem_;
  int rank_;
  Inboxes inboxes_;
  std::vector<Peer> peers_;
  std::deque<UnderWay> under_way_;
  std::uint64_t pooled_ = 0, on_the_way_ = 0;  // updates in buckets; updates put but not known to be taken
  std::uint64_t applied_ = 0;                  // updates of this run to this rank's words
  int ended_ = 0;
};

}  // namespace plumb::gups
