// GUPS with defective memories, and with updates omitted or replaced. Each is a separate benchmark,
// mutant-gups-NAME; a slow memory is not a defect, and must pass: passes-gups-lazy.
#include <deque>

#include "benchmarks/shmem/gups/gups.hpp"
#include "tests/mutants/mutants.hpp"
#include "world/mpi_one_sided.hpp"

namespace plumb::mutants {

namespace {

using gups::Inboxes;
using gups::Problem;
using gups::Share;
using gups::UpdaterOver;
using gups::Way;

// The loops' operations on a memory, forwarded.
class Memory {
 public:
  Memory(World& world, std::size_t bytes, int contexts) : ranks_(world.size()), inner_(world, bytes, contexts) {}
  virtual ~Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  operator OneSided&() { return inner_; }
  int contexts() const { return inner_.contexts(); }
  std::uint64_t* words() const { return inner_.words(); }
  virtual void put(int c, std::size_t offset, const void* from, std::size_t bytes, int rank) {
    inner_.put(c, offset, from, bytes, rank);
  }
  virtual void put_word(int c, std::size_t word, std::uint64_t value, int rank) {
    inner_.put_word(c, word, value, rank);
  }
  virtual std::uint64_t get_word(int c, std::size_t word, int rank) { return inner_.get_word(c, word, rank); }
  virtual void atomic_xor(int c, std::size_t word, std::uint64_t value, int rank) {
    inner_.atomic_xor(c, word, value, rank);
  }
  virtual void quiet(int c) { inner_.quiet(c); }
  virtual void notify(int c, std::size_t word, std::uint64_t value, int rank) { inner_.notify(c, word, value, rank); }
  virtual bool reached(std::size_t word, std::uint64_t value) { return inner_.reached(word, value); }

 protected:
  int ranks_;
  std::uint64_t calls_ = 0;
  MpiOneSided inner_;
};

// Each thousandth put or atomic goes to the next rank.
struct WrongRank : Memory {
  using Memory::Memory;
  int wrong(int rank) { return ++calls_ % 1000 == 0 ? (rank + 1) % ranks_ : rank; }
  void put_word(int c, std::size_t word, std::uint64_t value, int rank) override {
    Memory::put_word(c, word, value, wrong(rank));
  }
  void atomic_xor(int c, std::size_t word, std::uint64_t value, int rank) override {
    Memory::atomic_xor(c, word, value, wrong(rank));
  }
};

// Put words are delayed until quiet(), as the standard allows.
struct Lazy : Memory {
  using Memory::Memory;
  struct Put {
    std::size_t word;
    std::uint64_t value;
    int rank;
  };
  std::deque<Put> waiting;
  void put_word(int, std::size_t word, std::uint64_t value, int rank) override {
    waiting.push_back({word, value, rank});
  }
  void quiet(int c) override {
    for (const Put& put : waiting) Memory::put_word(c, put.word, put.value, put.rank);
    waiting.clear();
    Memory::quiet(c);
  }
};

// Seven of eight calls of quiet() are omitted.
struct NoQuiet : Lazy {
  using Lazy::Lazy;
  void quiet(int c) override {
    if (++calls_ % 8 == 0) Lazy::quiet(c);
  }
};

// An atomic is a read and, sixteen calls later, a write.
struct NotAtomic : Lazy {
  using Lazy::Lazy;
  void atomic_xor(int c, std::size_t word, std::uint64_t value, int rank) override {
    Lazy::put_word(c, word, get_word(c, word, rank) ^ value, rank);
    if (++calls_ % 16 == 0) Lazy::quiet(c);
  }
};

// The tenth bucket does not arrive, but is counted as arrived.
struct BucketLost : Memory {
  using Memory::Memory;
  void put(int c, std::size_t offset, const void* from, std::size_t bytes, int rank) override {
    if (++calls_ != 10) Memory::put(c, offset, from, bytes, rank);
  }
};

// The tenth bucket contains its updates twice, as far as it has room.
struct BucketTwice : Memory {
  using Memory::Memory;
  void put(int c, std::size_t offset, const void* from, std::size_t bytes, int rank) override {
    const auto* words = static_cast<const std::uint64_t*>(from);
    const std::uint64_t length = bytes / 8 - 1, more = std::min(length, Inboxes::pool - length);
    if (++calls_ != 10 || more == 0) return Memory::put(c, offset, from, bytes, rank);
    std::vector<std::uint64_t> twice(words, words + 1 + length);
    twice.insert(twice.end(), words + 1, words + 1 + more);
    twice[0] += more;
    Memory::put(c, offset, twice.data(), 8 * twice.size(), rank);
  }
};

// A rank polls late for buckets, which is allowed, and puts more without checking that earlier ones were taken.
struct Overrun : Memory {
  using Memory::Memory;
  bool reached(std::size_t word, std::uint64_t value) override {
    const std::size_t inboxes = size_in_words() - Inboxes::words(ranks_);
    const bool is_taken = word >= inboxes + static_cast<std::size_t>(ranks_);
    if (is_taken) return true;
    return ++calls_ % 16 == 0 && Memory::reached(word, value);
  }
  std::size_t size_in_words() const { return inner_.size() / 8; }
};

// Rank 1 starts one update late, or omits its last update.
template <bool late>
class OtherShare : public UpdaterOver<MpiOneSided> {
 public:
  OtherShare(World& world, const Problem& problem, Way way, int threads)
      : UpdaterOver(world, problem, way, threads), wrong_(world.rank() == 1) {}
  std::uint64_t run(const Share& share) override {
    if (!wrong_) return UpdaterOver::run(share);
    return UpdaterOver::run(late ? Share{share.first + 1, share.count} : Share{share.first, share.count - 1});
  }

 private:
  bool wrong_;
};

// One update in eight hundred is omitted: these alone give no more wrong words than get-put may leave.
class SomeLeftOut : public UpdaterOver<MpiOneSided> {
 public:
  using UpdaterOver::UpdaterOver;
  std::uint64_t run(const Share& share) override {
    std::uint64_t made = 0;
    for (std::uint64_t first = 0; first < share.count; first += 800)
      made += UpdaterOver::run({share.first + first, std::min<std::uint64_t>(share.count - first, 799)});
    return made;
  }
};

class WrongGups : public gups::Gups {
 public:
  WrongGups(std::string name, gups::UpdaterFactory make) : Gups(std::move(make)), name_(std::move(name)) {}
  std::string name() const override { return name_; }

 private:
  std::string name_;
};

RegisteredBenchmark wrong(const std::string& name, const gups::UpdaterFactory& make) {
  return {name, [name, make] { return std::make_unique<WrongGups>(name, make); }};
}

template <class Updater>
gups::UpdaterFactory of() {
  return [](World& world, const Problem& problem, Way way, int threads) {
    return std::make_unique<Updater>(world, problem, way, threads);
  };
}

const RegisteredBenchmark wrong_gups[] = {
    wrong("mutant-gups-wrong-rank", of<UpdaterOver<WrongRank>>()),
    wrong("passes-gups-lazy", of<UpdaterOver<Lazy>>()),
    wrong("mutant-gups-no-quiet", of<UpdaterOver<NoQuiet>>()),
    wrong("mutant-gups-not-atomic", of<UpdaterOver<NotAtomic>>()),
    wrong("mutant-gups-bucket-lost", of<UpdaterOver<BucketLost>>()),
    wrong("mutant-gups-bucket-twice", of<UpdaterOver<BucketTwice>>()),
    wrong("mutant-gups-overrun", of<UpdaterOver<Overrun>>()),
    wrong("mutant-gups-wrong-start", of<OtherShare<true>>()),
    wrong("mutant-gups-last-update-lost", of<OtherShare<false>>()),
    wrong("mutant-gups-some-left-out", of<SomeLeftOut>()),
};

}  // namespace

}  // namespace plumb::mutants
