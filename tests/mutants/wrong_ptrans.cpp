// PTRANS over exchanges that are wrong in some operations of a sample only, or start with the previous operation's
// data: mutant-rounds-ptrans has its case once for each way, over the selected transport, and all must be
// `failed`. "right" omits nothing, and must pass.
#include <functional>
#include <optional>

#include "benchmarks/hpcc/ptrans/ptrans.hpp"

namespace plumb::mutants {

namespace {

constexpr std::uint64_t operations_of_ptrans = 23;

enum class Done { whole, none, late, short_of_a_pair };

// Change to operation `index` of a sample.
using DoneIn = std::function<Done(std::uint64_t index)>;

DoneIn only(const std::function<bool(std::uint64_t)>& made) {
  return [made](std::uint64_t index) { return made(index) ? Done::whole : Done::none; };
}

const std::vector<std::pair<std::string, DoneIn>>& ways_of_rounds() {
  constexpr std::uint64_t last = operations_of_ptrans - 1, middle = operations_of_ptrans / 2;
  static const std::vector<std::pair<std::string, DoneIn>> all{
      {"right", only([](auto) { return true; })},
      {"nothing", only([](auto) { return false; })},
      {"first-only", only([](auto i) { return i == 0; })},
      {"last-only", only([](auto i) { return i == last; })},
      {"every-second", only([](auto i) { return i % 2 == 0; })},
      {"every-third", only([](auto i) { return i % 3 == 1; })},
      {"first-half", only([](auto i) { return i < middle; })},
      {"second-half", only([](auto i) { return i >= middle; })},
      {"all-but-first", only([](auto i) { return i != 0; })},
      {"all-but-one", only([](auto i) { return i != middle; })},
      {"all-but-last-but-one", only([](auto i) { return i + 1 != last; })},
      {"all-but-last", only([](auto i) { return i != last; })},
      {"all-late", [](auto) { return Done::late; }},
      {"one-late", [](auto i) { return i == middle ? Done::late : Done::whole; }},
      {"last-late", [](auto i) { return i == last ? Done::late : Done::whole; }},
      {"a-pair-left-out-once", [](auto i) { return i == middle ? Done::short_of_a_pair : Done::whole; }},
  };
  return all;
}

// The exchange without the messages between ranks 0 and 1.
Exchange short_of_a_pair(Exchange exchange, int rank) {
  const auto drop = [rank](const Transfer& transfer) { return transfer.peer + rank == 1; };
  for (Step& step : exchange.steps) {
    std::erase_if(step.sends, drop);
    std::erase_if(step.receives, drop);
  }
  std::erase_if(exchange.steps, [](const Step& step) { return step.sends.empty() && step.receives.empty(); });
  return exchange;
}

// A late round is made at the start of the next, or at the end of the exchange: its kernels have not waited.
class SomeRounds : public CompiledExchange {
 public:
  SomeRounds(std::unique_ptr<CompiledExchange> whole, std::unique_ptr<CompiledExchange> partial, const DoneIn& done)
      : whole_(std::move(whole)), partial_(std::move(partial)), done_(done) {}
  ~SomeRounds() override { catch_up(); }
  SomeRounds(const SomeRounds&) = delete;
  SomeRounds& operator=(const SomeRounds&) = delete;

  void set_sizes(const std::vector<StepSizes>&) override { throw Error("the transposition's messages have one size"); }
  void start_after(Queue& queue, std::uint64_t first, std::uint64_t count) override {
    queue.finish();
    start(first, count);
  }
  void precede(Queue&) override { wait(); }
  void start(std::uint64_t first, std::uint64_t count) override {
    catch_up();
    const Done done = done_(first + operations_of_ptrans - Slide::most);
    under_way_ = done == Done::whole ? whole_.get() : done == Done::short_of_a_pair ? partial_.get() : nullptr;
    if (under_way_ != nullptr) under_way_->start(first, count);
    if (done == Done::late) late_ = {first, count};
  }
  bool test() override { return under_way_ == nullptr || under_way_->test(); }
  void wait() override {
    if (under_way_ != nullptr) under_way_->wait();
  }

 private:
  void catch_up() {
    if (late_) whole_->run(late_->first, late_->second);
    late_.reset();
  }

  std::unique_ptr<CompiledExchange> whole_, partial_;
  const DoneIn& done_;
  CompiledExchange* under_way_ = nullptr;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> late_;
};

class SomeRoundsTransport : public Transport {
 public:
  SomeRoundsTransport(Transport& real, int rank, const DoneIn& done) : real_(real), rank_(rank), done_(done) {}
  const TransportInfo& info() const override { return real_.info(); }
  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) override {
    auto whole = real_.compile(exchange);
    auto partial = real_.compile(short_of_a_pair(exchange, rank_));
    return std::make_unique<SomeRounds>(std::move(whole), std::move(partial), done_);
  }

 private:
  Transport& real_;
  int rank_;
  const DoneIn& done_;
};

class PtransOverSomeRounds : public ptrans::Ptrans {
 public:
  std::string name() const override { return "mutant-rounds-ptrans"; }
  std::vector<Group> groups(const Plan& plan) const override {
    std::vector<Group> groups = Ptrans::groups(plan);
    for (Group& group : groups) {
      std::vector<Case> cases;
      for (const Case& right : group.cases)
        for (const auto& way : ways_of_rounds()) {
          if (!ways_.get().empty() && ("," + ways_.get() + ",").find("," + way.first + ",") == std::string::npos)
            continue;
          Case& wrong = cases.emplace_back(right);
          wrong.key = way.first + "/" + right.key;
          wrong.labels["rounds"] = way.first;
          wrong.fixed_count = operations_of_ptrans;
        }
      group.cases = std::move(cases);
    }
    return groups;
  }
  // Before the counted samples the engine runs one of a single operation, which is the last.
  void prepare(Session& session, const Case& measured) override {
    for (const auto& way : ways_of_rounds())
      if (way.first == measured.labels.at("rounds").get<std::string>())
        transport_.emplace(*session.transport, session.world.rank(), way.second);
    session_.emplace(Session{session.world, session.device, &*transport_, session.memory, session.seed});
    Ptrans::prepare(*session_, measured);
  }
  void release() override {
    Ptrans::release();
    session_.reset();
    transport_.reset();
  }

 private:
  Parameter<std::string> ways_{*this, {"ways", "some of the ways, with commas between them; all if empty"}, ""};

  std::optional<SomeRoundsTransport> transport_;
  std::optional<Session> session_;
};

const RegisteredBenchmark rounds_of_ptrans("mutant-rounds-ptrans",
                                           [] { return std::make_unique<PtransOverSomeRounds>(); });

}  // namespace

}  // namespace plumb::mutants
