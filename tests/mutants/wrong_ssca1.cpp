// SSCA1 with wrong strings, kernels that compute something else, and results that lack a part.
// Each is a separate benchmark, mutant-ssca1-NAME.
#include <algorithm>
#include <optional>

#include "benchmarks/shmem/ssca1/blocked.hpp"
#include "benchmarks/shmem/ssca1/ssca1.hpp"
#include "tests/mutants/served_memory.hpp"

namespace plumb::ssca1 {

namespace {

class WrongSsca1 : public Ssca1 {
 public:
  explicit WrongSsca1(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }

 private:
  std::string name_;
};

// --- strings

class WrongStrings : public WrongSsca1 {
 public:
  using Spoil = void (*)(Strings&, const Maker&, int rank);
  WrongStrings(std::string name, Spoil spoil) : WrongSsca1(std::move(name)), spoil_(spoil) {}

 protected:
  Strings strings(const Maker& maker, int rank) const override {
    Strings all = make_strings(maker);
    spoil_(all, maker, rank);
    return all;
  }

 private:
  Spoil spoil_;
};

void fill_after_planting(Strings& all, const Maker& maker, int) {
  for (std::uint64_t i = 0; i < maker.length(); ++i) {
    all.main[i] = maker.background(String::main, i);
    all.match[i] = maker.background(String::match, i);
  }
}
// Part 0 is right on every rank, as in a string whose parts are made by their ranks.
void seeded_by_rank(Strings& all, const Maker& maker, int rank) {
  const Maker other(1000 + static_cast<std::uint64_t>(rank), maker.length());
  for (std::uint64_t i = maker.length() / 2; i < maker.length(); ++i) all.main[i] = other.codon(String::main, i);
}
void strings_alike(Strings& all, const Maker&, int) {
  all.match = all.main;
}

// --- scores

class WrongScores : public WrongSsca1 {
 public:
  using Spoil = void (*)(Scores&);
  WrongScores(std::string name, Spoil spoil) : WrongSsca1(std::move(name)), spoil_(spoil) {}

 protected:
  Scores kernel_scores() const override {
    Scores scores = this->scores();
    spoil_(scores);
    return scores;
  }

 private:
  Spoil spoil_;
};

void gap_start_twice(Scores& scores) {
  scores.gap_start *= 2;
}
void no_gap_start(Scores& scores) {
  scores.gap_start = 0;
}
void similar_as_exact(Scores& scores) {
  scores.similar = scores.exact;
}
void similar_as_dissimilar(Scores& scores) {
  scores.similar = scores.dissimilar;
}

// --- variant blocked

template <class T>
class NoCorner : public Blocked<T> {
 public:
  using Blocked<T>::Blocked;

 protected:
  void turn_corner(Block<T>& block) const override {
    Blocked<T>::turn_corner(block);
    block.corner.fill(0);
  }
};

template <class T>
class NoGapsBetweenBands : public Blocked<T> {
 public:
  using Blocked<T>::Blocked;

 protected:
  void shift(Block<T>& block) const override {
    Blocked<T>::shift(block);
    for (LaneValues<T>& down : block.down) down.fill(0);
  }
};

// The gap that comes from above is taken for the score above, and the other way round.
template <class T>
class GapsAsScores : public Blocked<T> {
 public:
  using Blocked<T>::Blocked;

 protected:
  void shift(Block<T>& block) const override {
    Blocked<T>::shift(block);
    std::swap(block.down, block.v);
  }
};

template <class T>
class NoPartialTile : public Blocked<T> {
 public:
  using Blocked<T>::Blocked;

 protected:
  std::uint64_t last_block() const override {
    const Shares& shares = this->shares();
    return shares.length / shares.tile * shares.tile / block_columns;
  }
};

template <class T>
class Wraps : public Blocked<T> {
 public:
  using Blocked<T>::Blocked;

 protected:
  bool overflows(T) const override { return false; }
};

template <template <class> class Wrong>
class WrongBlocked : public WrongSsca1 {
 public:
  using WrongSsca1::WrongSsca1;

 protected:
  std::unique_ptr<Kernel1> make_kernel1(World& world, const std::string&, int bits) override {
    auto memory = make_one_sided(world, blocked_bytes<std::int32_t>(problem().length(), tile()), 1);
    if (bits == 16) return std::make_unique<Wrong<std::int16_t>>(world, problem(), tile(), std::move(memory));
    return std::make_unique<Wrong<std::int32_t>>(world, problem(), tile(), std::move(memory));
  }
};

// --- memory

class SpoiledMemory : public mutants::LateWords {
 public:
  enum class Way { late, never_quiet, tile_lost, gaps_swapped };
  SpoiledMemory(std::unique_ptr<OneSided> right, Way way) : LateWords(std::move(right)), way_(way) {}
  // The second tile is not put, but notified: a stale one is read.
  void put(int c, std::size_t at, const void* from, std::size_t bytes, int rank) override {
    if (way_ != Way::tile_lost || puts_++ != 1) LateWords::put(c, at, from, bytes, rank);
  }
  // Array 3 and 4 (E) are taken for 5 and 6 (F), and the other way round.
  std::uint64_t get_word(int c, std::size_t word, int rank) override {
    const std::size_t block = size() / 72, array = word / block;
    if (way_ == Way::gaps_swapped && array >= 3 && array < 7) word = array < 5 ? word + 2 * block : word - 2 * block;
    return LateWords::get_word(c, word, rank);
  }
  void quiet(int c) override {
    if (way_ != Way::never_quiet) LateWords::quiet(c);
  }
  void synchronise() override {
    puts_ = 0;
    LateWords::synchronise();
  }

 private:
  Way way_;
  std::size_t puts_ = 0;
};

class OverSpoiledMemory : public WrongSsca1 {
 public:
  OverSpoiledMemory(std::string name, SpoiledMemory::Way way) : WrongSsca1(std::move(name)), way_(way) {}

 protected:
  std::unique_ptr<Kernel1> make_kernel1(World& world, const std::string& variant, int) override {
    const bool is_blocked = variant == "blocked";
    const std::uint64_t length = problem().length();
    auto right = make_one_sided(
        world, is_blocked ? blocked_bytes<std::int32_t>(length, tile()) : put_get_bytes(length, world.size()), 1);
    auto memory = std::make_unique<SpoiledMemory>(std::move(right), way_);
    if (is_blocked) return std::make_unique<Blocked<std::int32_t>>(world, problem(), tile(), std::move(memory));
    return make_put_get(world, problem(), std::move(memory));
  }

 private:
  SpoiledMemory::Way way_;
};

// --- results

class WrongFound : public WrongSsca1 {
 public:
  using Spoil = void (*)(Found&, const Team&, const Problem&);
  WrongFound(std::string name, Spoil spoil) : WrongSsca1(std::move(name)), spoil_(spoil) {}

 protected:
  Found find(Kernel1& kernel) override {
    Found found = kernel.run();
    spoil_(found, team(), problem());
    return found;
  }

 private:
  Spoil spoil_;
};

// The first rank has ends at any number of ranks.
void ends_lost(Found& found, const Team& team, const Problem&) {
  if (team.rank() == 0) found.ends.clear();
}
void an_end_lost(Found& found, const Team& team, const Problem&) {
  if (team.rank() == 0) found.ends.pop_back();
}
void an_end_twice(Found& found, const Team& team, const Problem&) {
  if (team.rank() == 0) found.ends.push_back(found.ends.back());
}
void an_end_moved(Found& found, const Team& team, const Problem&) {
  if (team.rank() == 0) found.ends.back().match ^= 1;
}
void a_score_higher(Found& found, const Team& team, const Problem&) {
  if (team.rank() == 0) ++found.ends.front().score;
}
void cells_told_twice(Found& found, const Team&, const Problem&) {
  found.cells *= 2;
}
// No cell is scored: the plants are known.
void plants_alone(Found& found, const Team& team, const Problem& problem) {
  found.ends.clear();
  if (team.rank() != 0) return;
  const Maker maker(1, problem.length());
  for (std::size_t i = 0; i < plants; ++i)
    found.ends.push_back(
        {planted[i].score(problem.scores), maker.last_aligned(String::main, i), maker.last_aligned(String::match, i)});
}

// The first repetition's ends, ever after.
class EndsOfBefore : public WrongSsca1 {
 public:
  using WrongSsca1::WrongSsca1;

 protected:
  Found find(Kernel1& kernel) override {
    Found found = kernel.run();
    if (!kept_) kept_ = found;
    return *kept_;
  }

 private:
  std::optional<Found> kept_;
};

class WrongDetail : public WrongSsca1 {
 public:
  using Spoil = void (*)(Alignment&);
  WrongDetail(std::string name, Spoil spoil) : WrongSsca1(std::move(name)), spoil_(spoil) {}

 protected:
  Alignment detail(const Problem& problem, const End& end) const override {
    Alignment found = WrongSsca1::detail(problem, end);
    spoil_(found);
    return found;
  }

 private:
  Spoil spoil_;
};

void start_off_by_one(Alignment& found) {
  ++found.main;
}
void first_pair_missing(Alignment& found) {
  ++found.main;
  ++found.match;
  found.steps.erase(0, 1);
}
void nothing_found(Alignment& found) {
  found = {};
}
void gaps_on_the_other_side(Alignment& found) {
  for (char& step : found.steps) step = step == 'm' ? 'n' : step == 'n' ? 'm' : step;
}

template <class Wrong, class... More>
RegisteredBenchmark wrong_ssca1(const std::string& name, More... more) {
  const std::string whole = "mutant-ssca1-" + name;
  return {whole, [whole, more...] { return std::make_unique<Wrong>(whole, more...); }};
}

const RegisteredBenchmark all_wrong_ssca1[] = {
    wrong_ssca1<WrongStrings>("fill-after-planting", fill_after_planting),
    wrong_ssca1<WrongStrings>("seeded-by-rank", seeded_by_rank),
    wrong_ssca1<WrongStrings>("strings-alike", strings_alike),
    wrong_ssca1<WrongScores>("gap-start-twice", gap_start_twice),
    wrong_ssca1<WrongScores>("no-gap-start", no_gap_start),
    wrong_ssca1<WrongScores>("similar-as-exact", similar_as_exact),
    wrong_ssca1<WrongScores>("similar-as-dissimilar", similar_as_dissimilar),
    wrong_ssca1<WrongBlocked<NoCorner>>("corner-missing"),
    wrong_ssca1<WrongBlocked<NoGapsBetweenBands>>("no-gaps-between-bands"),
    wrong_ssca1<WrongBlocked<GapsAsScores>>("gaps-as-scores"),
    wrong_ssca1<WrongBlocked<NoPartialTile>>("partial-tile-skipped"),
    wrong_ssca1<WrongBlocked<Wraps>>("wraps"),
    wrong_ssca1<OverSpoiledMemory>("passes-late", SpoiledMemory::Way::late),
    wrong_ssca1<OverSpoiledMemory>("quiet-left-out", SpoiledMemory::Way::never_quiet),
    wrong_ssca1<OverSpoiledMemory>("stale-tile", SpoiledMemory::Way::tile_lost),
    wrong_ssca1<OverSpoiledMemory>("gaps-swapped", SpoiledMemory::Way::gaps_swapped),
    wrong_ssca1<WrongFound>("ends-lost", ends_lost),
    wrong_ssca1<WrongFound>("an-end-lost", an_end_lost),
    wrong_ssca1<WrongFound>("an-end-twice", an_end_twice),
    wrong_ssca1<WrongFound>("an-end-moved", an_end_moved),
    wrong_ssca1<WrongFound>("a-score-higher", a_score_higher),
    wrong_ssca1<WrongFound>("cells-told-twice", cells_told_twice),
    wrong_ssca1<WrongFound>("plants-alone", plants_alone),
    wrong_ssca1<EndsOfBefore>("ends-of-before"),
    wrong_ssca1<WrongDetail>("start-off-by-one", start_off_by_one),
    wrong_ssca1<WrongDetail>("first-pair-missing", first_pair_missing),
    wrong_ssca1<WrongDetail>("nothing-found", nothing_found),
    wrong_ssca1<WrongDetail>("gaps-on-the-other-side", gaps_on_the_other_side),
};

}  // namespace

}  // namespace plumb::ssca1
