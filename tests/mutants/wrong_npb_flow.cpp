// npb_bt, npb_sp and npb_lu with wrong numbers, parts and messages. Each is a separate benchmark, mutant-npb_bt-NAME.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "benchmarks/shmem/npb/flow_benchmark.hpp"

namespace plumb::npb {

namespace {

class WrongFlow : public FlowBenchmark {
 public:
  WrongFlow(std::string name, Method method) : FlowBenchmark(method), name_(std::move(name)) {}
  std::string name() const override { return name_; }

 private:
  std::string name_;
};

class WrongScheme : public WrongFlow {
 public:
  using Spoil = void (*)(Scheme&);
  WrongScheme(std::string name, Method method, Spoil spoil) : WrongFlow(std::move(name), method), spoil_(spoil) {}

 protected:
  Scheme scheme(const ClassRow& row) const override {
    Scheme wrong = WrongFlow::scheme(row);
    spoil_(wrong);
    return wrong;
  }

 private:
  Spoil spoil_;
};

void stretch_left_out(Scheme& scheme) {
  scheme.stretch[1] = 1;
}
void six_for_five(Scheme& scheme) {
  scheme.differences[2][1] = scheme.differences[2][static_cast<std::size_t>(scheme.n) - 2] = 6;
}
void no_products(Scheme& scheme) {
  scheme.products = 0;
}
void upper_ascends(Scheme& scheme) {
  scheme.upper_ascends = true;
}
void no_diffusion(Scheme& scheme) {
  scheme.diffusion[2] = .75;
}
void other_time(Scheme& scheme) {
  scheme.dt *= 1 + 1e-6;
}

class StepFewer : public WrongFlow {
 public:
  using WrongFlow::WrongFlow;

 protected:
  void iterate(std::uint64_t iteration) override {
    const auto last = static_cast<std::uint64_t>(problem().iterations);
    if (iteration > 1 && iteration == last) {  // messages that nobody would take are taken
      for (Tile& tile : flow().tiles()) before_.push_back(tile.u);
      WrongFlow::iterate(iteration);
      for (std::size_t i = 0; i < before_.size(); ++i) flow().tiles()[i].u = before_[i];
      before_.clear();
      return;
    }
    WrongFlow::iterate(iteration);
  }

 private:
  std::vector<std::vector<double>> before_;
};

// Parts of a step are left out, or undone, on the last rank.
class WrongPart : public WrongFlow {
 public:
  using WrongFlow::WrongFlow;

 protected:
  bool is_last() const { return rank() == ranks() - 1; }
};

// The last tile keeps its right-hand sides of the z lines.
class LastTileKept : public WrongPart {
 public:
  using WrongPart::WrongPart;

 protected:
  void run_part(std::size_t phase, const std::function<void()>& work) override {
    std::vector<double>& r = flow().tiles().back().r;
    const std::vector<double> before = r;
    WrongPart::run_part(phase, work);
    if (is_last() && phases()[phase] == "zsolve") r = before;
  }
};

// Every other exchange of faces leaves the margins as they were.
class OldMargins : public WrongPart {
 public:
  using WrongPart::WrongPart;

 protected:
  void run_part(std::size_t phase, const std::function<void()>& work) override {
    std::vector<std::vector<double>> before;
    for (const Tile& tile : flow().tiles()) before.push_back(tile.u);
    WrongPart::run_part(phase, work);
    if (phases()[phase] != "exch" || ++exchanges_ % 2 == 0 || !is_last()) return;
    for (std::size_t i = 0; i < before.size(); ++i) flow().tiles()[i].u = before[i];
  }

 private:
  int exchanges_ = 1;
};

// One point is not a number, or one bit is another, after the last step.
class WrongPoint : public WrongPart {
 public:
  WrongPoint(std::string name, Method method, double factor) : WrongPart(std::move(name), method), factor_(factor) {}

 protected:
  void iterate(std::uint64_t iteration) override {
    WrongPart::iterate(iteration);
    Tile& tile = flow().tiles().back();
    if (is_last() && iteration == static_cast<std::uint64_t>(problem().iterations))
      tile.u[static_cast<std::size_t>(tile.place(tile.end(0) - 1, tile.end(1) - 1, tile.begin(2)))] *= factor_;
  }

 private:
  double factor_;
};

// Gives, of each link of a sweep, the message before.
class StaleCarries : public Messages {
 public:
  StaleCarries(std::unique_ptr<Messages> right, const Links& links)
      : Messages(links.outgoing, links.incoming),
        right_(std::move(right)),
        last_(links.incoming.size()),
        given_(last_) {}

 private:
  static constexpr int first_tag_of_sweeps = 6;

  std::span<std::byte> do_outgoing(std::size_t i, std::uint64_t) override { return right_->outgoing(i); }
  void do_post(std::size_t i, std::uint64_t, std::size_t bytes) override { right_->post(i, bytes); }
  void do_expect(std::size_t j, std::uint64_t, std::size_t bytes) override { right_->expect(j, bytes); }
  bool do_arrived(std::size_t j, std::uint64_t) override { return right_->arrived(j); }
  std::span<const std::byte> do_take(std::size_t j, std::uint64_t, std::size_t) override {
    const auto now = right_->take(j);
    if (in(j).tag < first_tag_of_sweeps) return now;
    given_[j] = last_[j];
    given_[j].resize(now.size());
    last_[j].assign(now.begin(), now.end());
    return given_[j];
  }
  void do_meet() override { right_->meet(); }
  void do_complete() override { right_->complete(); }

  std::unique_ptr<Messages> right_;
  std::vector<std::vector<std::byte>> last_, given_;
};

class StaleCarry : public WrongFlow {
 public:
  using WrongFlow::WrongFlow;

 protected:
  std::unique_ptr<Messages> make(Form form, Session& session, const Links& links) override {
    return std::make_unique<StaleCarries>(WrongFlow::make(form, session, links), links);
  }
};

template <class Wrong, class... More>
void wrong_flow(const std::string& name, std::initializer_list<Method> methods, More... more) {
  for (const Method method : methods) {
    const std::string whole = fmt::format("mutant-{}-{}", flow_kind(method).facts.name, name);
    Registry<BenchmarkFactory>::instance().add(
        whole, [whole, method, more...] { return std::make_unique<Wrong>(whole, method, more...); });
  }
}

[[maybe_unused]] const bool all_wrong_flows = [] {
  constexpr auto bt = Method::bt, sp = Method::sp, lu = Method::lu;
  wrong_flow<WrongScheme>("stretch-left-out", {bt, lu}, stretch_left_out);
  wrong_flow<WrongScheme>("six-for-five", {bt, sp, lu}, six_for_five);
  wrong_flow<WrongScheme>("no-products", {bt, sp, lu}, no_products);
  wrong_flow<WrongScheme>("no-diffusion", {bt, sp, lu}, no_diffusion);
  wrong_flow<WrongScheme>("other-time", {bt, sp, lu}, other_time);
  wrong_flow<WrongScheme>("upper-ascends", {lu}, upper_ascends);
  wrong_flow<StepFewer>("step-fewer", {bt, sp, lu});
  wrong_flow<LastTileKept>("last-tile-kept", {bt, sp});
  wrong_flow<OldMargins>("old-margins", {bt, sp, lu});
  wrong_flow<WrongPoint>("no-number", {bt, sp, lu}, std::numeric_limits<double>::quiet_NaN());
  wrong_flow<WrongPoint>("wrong-point", {bt, sp, lu}, 1 + 1e-6);
  wrong_flow<StaleCarry>("stale-carry", {bt, sp, lu});
  return true;
}();

}  // namespace

}  // namespace plumb::npb
