// The NPB's IS, EP and MG made wrong, and signals over memory that puts late or without credit.
// Each is a separate benchmark, mutant-npb-NAME.
#include <unistd.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "benchmarks/shmem/npb/ep.hpp"
#include "benchmarks/shmem/npb/flow_benchmark.hpp"
#include "benchmarks/shmem/npb/is.hpp"
#include "benchmarks/shmem/npb/mg.hpp"
#include "tests/mutants/served_memory.hpp"

namespace plumb::npb {

namespace {

template <class Right>
class Named : public Right {
 public:
  explicit Named(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }

 private:
  std::string name_;
};

bool is_last(int rank, int ranks) {
  return rank == ranks - 1;
}

// --- IS

class KeyLost : public Named<Is> {
 public:
  using Named::Named;
  void sort_to_owners() override {
    Is::sort_to_owners();
    // A neighbour's key in its place: the order remains.
    for (std::size_t i = 0; i + 1 < kept_.size() && is_last(rank(), ranks()); ++i)
      if (kept_[i + 1] >= 0 && kept_[i] != kept_[i + 1]) {
        kept_[i] = kept_[i + 1];
        return;
      }
  }
};

class BorderOff : public Named<Is> {
 public:
  using Named::Named;
  std::vector<std::size_t> borders() const override {
    auto first = Is::borders();
    if (rank() == 0) ++first[1];
    return first;
  }
};

class ChangeLeftOut : public Named<Is> {
 public:
  using Named::Named;
  void change_keys(std::uint64_t iteration) override {
    if (iteration != 3) Is::change_keys(iteration);
  }
};

// The keys of the rank that changes them, as they were in the iteration before.
class StaleKeys : public Named<Is> {
 public:
  using Named::Named;
  void change_keys(std::uint64_t iteration) override {
    before_ = keys_;
    Is::change_keys(iteration);
    if (iteration == 5) std::swap(keys_, before_);
    if (iteration == 6) Is::change_keys(5);
  }

 private:
  std::vector<Key> before_;
};

// One key's rank, which no test key has, in an iteration before the last.
class RankOff : public Named<Is> {
 public:
  using Named::Named;
  void rank_keys(std::uint64_t iteration) override {
    Is::rank_keys(iteration);
    if (iteration == 5 && is_last(rank(), ranks()))
      found_sums_[iteration] += weight_of(static_cast<std::uint64_t>(low_) + smaller_.size() / 2);
  }
};

class CountsWithoutLast : public Named<Is> {
 public:
  using Named::Named;
  void reduce() override {
    // Buckets that have keys: the lowest and the highest are empty in small classes.
    const auto some = counts_.begin() + static_cast<std::ptrdiff_t>(counts_.size() / 8);
    if (is_last(rank(), ranks())) std::fill(some, some + 8, 0);
    Is::reduce();
  }
};

// --- EP

class SeedOfIs : public Named<Ep> {
 public:
  using Named::Named;
  std::uint64_t seed() const override { return usual_seed; }
};

class SumsWithoutLast : public Named<Ep> {
 public:
  using Named::Named;
  void reduce() override {
    const Deviates kept = own_;
    if (is_last(rank(), ranks())) own_ = {};
    Ep::reduce();
    own_ = kept;
  }
};

// --- MG

class EdgesNotPassedOn : public Named<Mg> {
 public:
  using Named::Named;
  bool passes_edges_on() const override { return false; }
};

class OtherSmoother : public Named<Mg> {
 public:
  using Named::Named;
  mg::Stencil smoother() const override { return mg::smoother_of_large; }
};

class RestrictsEven : public Named<Mg> {
 public:
  using Named::Named;
  int offset() const override { return 0; }
};

class NormWithoutLast : public Named<Mg> {
 public:
  using Named::Named;
  double sum(double mine) override { return Mg::sum(is_last(rank(), ranks()) ? 0 : mine); }
};

class OldHalo : public Named<Mg> {
 public:
  using Named::Named;
  void unpack(std::span<const double> message, double* grid, const mg::Extent& own, int axis, int at) override {
    std::vector<double>& kept = before_[{grid, axis, at}];
    std::vector<double> now(message.begin(), message.end());
    Mg::unpack(kept.empty() ? now : kept, grid, own, axis, at);
    kept = std::move(now);
  }

 private:
  std::map<std::tuple<double*, int, int>, std::vector<double>> before_;
};

// --- messages

enum class Fault { none, notice_first, no_credit, lost, foreign };

// Puts are kept back until they are completed: by a notice to their rank, or quiet.
class LatePuts : public mutants::ServedMemory {
 public:
  LatePuts(std::unique_ptr<OneSided> right, Fault fault, std::size_t credit_words, bool is_slow)
      : ServedMemory(std::move(right)), fault_(fault), credit_words_(credit_words), is_slow_(is_slow) {}
  void put_nb(int, std::size_t at, const void* from, std::size_t bytes, int rank) override {
    if (fault_ == Fault::lost && ++puts_ % 16 == 0) return;
    late_.push_back({at, fault_ == Fault::foreign && bytes > sizeof(std::uint64_t) ? &foreign_ : from,
                     fault_ == Fault::foreign ? std::min(bytes, sizeof foreign_) : bytes, rank});
  }
  void quiet(int c) override {
    put_all();
    ServedMemory::quiet(c);
  }
  void notify(int c, std::size_t word, std::uint64_t value, int rank) override {
    if (fault_ != Fault::notice_first || late_.empty()) put_all();
    ServedMemory::notify(c, word, value, rank);
    if (late_.empty()) return;
    usleep(2000);  // the receiver sees the notice
    put_all();
  }
  bool reached(std::size_t word, std::uint64_t value) override {
    if (fault_ == Fault::no_credit && word < credit_words_) return true;
    if (fault_ == Fault::no_credit && is_slow_) usleep(500);  // senders overtake this rank
    return ServedMemory::reached(word, value);
  }
  void synchronise() override {
    put_all();
    ServedMemory::synchronise();
  }

 private:
  struct Put {
    std::size_t at;
    const void* from;
    std::size_t bytes;
    int rank;
  };
  void put_all() {
    for (const Put& put : late_) ServedMemory::put(0, put.at, put.from, put.bytes, put.rank);
    late_.clear();
  }

  Fault fault_;
  std::size_t credit_words_;
  bool is_slow_;
  std::uint64_t puts_ = 0;
  std::uint64_t foreign_ = 0x7f7f7f7f7f7f7f7f;  // no key of any class
  std::vector<Put> late_;
};

template <class Right, Fault fault>
class OverLatePuts : public Named<Right> {
 public:
  using Named<Right>::Named;
  std::unique_ptr<Messages> make(Form, Session& session, const Links& links) override {
    constexpr std::size_t bytes = 16 << 20;
    auto memory = std::make_unique<LatePuts>(make_one_sided(session.world, bytes, 1), fault, 8 * links.outgoing.size(),
                                             is_last(session.world.rank(), session.world.size()));
    return make_signal(session.world, std::move(memory), links.outgoing, links.incoming);
  }
};

template <Method method>
class FlowBy : public FlowBenchmark {
 public:
  FlowBy() : FlowBenchmark(method) {}
};

// One rank is slow to unpack, so that a sender without credit overtakes it.
class NoCredit : public OverLatePuts<Mg, Fault::no_credit> {
 public:
  using OverLatePuts::OverLatePuts;
  void unpack(std::span<const double> message, double* grid, const mg::Extent& own, int axis, int at) override {
    if (is_last(rank(), ranks())) usleep(500);
    Mg::unpack(message, grid, own, axis, at);
  }
};

template <class Wrong>
RegisteredBenchmark wrong_npb(const std::string& name) {
  const std::string whole = "mutant-npb-" + name;
  return {whole, [whole] { return std::make_unique<Wrong>(whole); }};
}

const RegisteredBenchmark all_wrong_npb[] = {
    wrong_npb<KeyLost>("is-key-lost"),
    wrong_npb<BorderOff>("is-border-off"),
    wrong_npb<ChangeLeftOut>("is-change-left-out"),
    wrong_npb<StaleKeys>("is-stale-keys"),
    wrong_npb<RankOff>("is-rank-off"),
    wrong_npb<CountsWithoutLast>("is-counts-without-last"),
    wrong_npb<SeedOfIs>("ep-seed-of-is"),
    wrong_npb<SumsWithoutLast>("ep-sums-without-last"),
    wrong_npb<EdgesNotPassedOn>("mg-edges-not-passed-on"),
    wrong_npb<OtherSmoother>("mg-other-smoother"),
    wrong_npb<RestrictsEven>("mg-restricts-even"),
    wrong_npb<NormWithoutLast>("mg-norm-without-last"),
    wrong_npb<OldHalo>("mg-old-halo"),
    wrong_npb<OverLatePuts<Mg, Fault::none>>("mg-passes-late"),
    wrong_npb<OverLatePuts<Is, Fault::none>>("is-passes-late"),
    wrong_npb<OverLatePuts<Mg, Fault::notice_first>>("mg-notice-first"),
    wrong_npb<OverLatePuts<Is, Fault::notice_first>>("is-notice-first"),
    wrong_npb<OverLatePuts<FlowBy<Method::bt>, Fault::notice_first>>("bt-notice-first"),
    wrong_npb<OverLatePuts<FlowBy<Method::sp>, Fault::notice_first>>("sp-notice-first"),
    wrong_npb<OverLatePuts<FlowBy<Method::lu>, Fault::notice_first>>("lu-notice-first"),
    wrong_npb<OverLatePuts<Is, Fault::foreign>>("is-foreign-keys"),
    wrong_npb<OverLatePuts<Mg, Fault::lost>>("mg-put-lost"),
    wrong_npb<NoCredit>("mg-no-credit"),
    wrong_npb<OverLatePuts<FlowBy<Method::lu>, Fault::no_credit>>("lu-no-credit"),
};

}  // namespace

}  // namespace plumb::npb
