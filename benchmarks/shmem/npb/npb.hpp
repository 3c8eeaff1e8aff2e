// What the NPB's benchmarks have in common: classes, forms, iterations, phases, official figures. README.md derives the
// metrics and defines what is proven.
//
// A benchmark derives from Npb, gives its table of classes, its links, its phases, and these steps of a repetition:
//   restart()    the initial state, everything else poisoned        (untimed)
//   iterate(0)   one untimed iteration, then restart() again
//   iterate(i)   i = 1 ... iterations, each a lap; finish() ends the last
//   check()      the validation of the repetition
#pragma once

#include <string>
#include <vector>

#include "benchmarks/shmem/device_exchange.hpp"
#include "benchmarks/shmem/npb/messages.hpp"
#include "measure/benchmark.hpp"
#include "measure/clock.hpp"
#include "world/team.hpp"

namespace plumb::npb {

// A row of a benchmark's table.
struct ClassRow {
  char name = 'U';           // U: the user's own, without official values
  std::int64_t size = 0;     // points of an axis (MG, BT, SP, LU), log2 of the keys (IS) or of the pairs (EP)
  std::int64_t largest = 0;  // IS: log2 of the key range
  std::int64_t iterations = 1;
  double dt = 0;                      // BT, SP, LU
  std::vector<double> official = {};  // in the benchmark's own order; empty: none
};
// Of "npb_mg": rows S, W, A, B, C. One table for all, in classes.cpp.
const std::vector<ClassRow>& classes_of(const std::string& benchmark);

// What a benchmark is, whatever the problem.
struct Facts {
  std::string name;  // "npb_mg", also of its mutants
  std::string title;
  std::vector<std::string> phases;  // official names of its timers
  std::string operation_type = "floating point";
  bool sends = true;                   // false: no messages, so one case without a form
  std::string why_not_on_device = "";  // the reason, if there is no variant device
};

// A rank's share of n things.
struct Share {
  std::uint64_t first, end;
  std::uint64_t count() const { return end - first; }
};
Share share_of(std::uint64_t n, int rank, int ranks);

// Of all ranks, an iteration.
struct Volume {
  double bytes = 0, messages = 0;
};

// All links of a rank. A benchmark without messages has none.
struct Links {
  std::vector<Link> outgoing, incoming;
};

// A validation in the making: official values within a relative tolerance, and items compared exactly or closely.
class Checks {
 public:
  explicit Checks(double tolerance = 1e-8) { found.tolerance = tolerance; }
  // One item; relative unless `should_be` is 0.
  void close(const std::string& what, double is, double should_be);
  // `items` compared elsewhere, `wrong` of them wrong.
  void count(const std::string& what, std::uint64_t items, std::uint64_t wrong, const std::string& detail = "");
  // As close(), with a tolerance of its own.
  void within(const std::string& what, double is, double should_be, double tolerance);

  Validation found;
};

class Npb : public Benchmark {
 public:
  explicit Npb(Facts facts) : facts_(std::move(facts)) {}
  std::string name() const override { return facts_.name; }
  std::string title() const override { return facts_.title; }
  bool needs_device() const override { return on_device(); }
  bool needs_transport() const override;
  bool takes_kernel_file() const override { return on_device(); }
  std::string source() const override;
  Preset preset(const std::string& name) const override;
  ValidateWhen validate_when() const override { return ValidateWhen::each_repetition; }
  void check(const Plan& plan) const override;
  void check_device(const Plan& plan, const DeviceInfo& info) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare(Session& session, const Case& measured) override;
  void reset(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override;
  void run(Session& session, const Case& measured, Timed& timed) override;
  Validation validate(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override;
  void release() override;
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 protected:
  // --- what a benchmark declares, by arithmetic alone

  virtual double operations(const ClassRow& problem) const = 0;  // official, of all iterations
  virtual std::string size_text(const ClassRow& problem) const;  // of the official text; of a cube where not replaced
  virtual void change(ClassRow&) const {}                        // applies the benchmark's own options
  virtual void check_problem(const ClassRow&, int /*ranks*/) const {}   // throws UsageError
  virtual std::uint64_t items(const ClassRow&, const Plan&) const = 0;  // that check() counts on this rank
  virtual Links links(const ClassRow&, int /*rank*/, int /*ranks*/) const { return {}; }
  virtual std::uint64_t host_bytes(const ClassRow&, const Plan&) const = 0;
  virtual DeviceBytes device_bytes(const ClassRow&, const Plan&) const { return {}; }
  virtual Volume volume(const ClassRow&, int /*ranks*/) const { return {}; }  // by formula

  // --- what it does

  virtual void set_up(Session&) = 0;  // memory of a case; problem(), world(), team(), messages() are ready
  virtual void restart() = 0;
  virtual void iterate(std::uint64_t iteration) = 0;
  virtual void finish() {}
  virtual void check(Checks& checks, std::uint64_t repetition) = 0;
  virtual void tear_down() {}
  virtual std::unique_ptr<Messages> make(Form form, Session& session, const Links& links);  // replaced by mutants
  virtual const Traffic* device_traffic() const { return nullptr; }                         // of variant device

  // --- what it uses

  ClassRow problem() const;
  const std::vector<std::string>& phases() const { return facts_.phases; }
  bool on_device() const { return variant_ == "device"; }
  World& world() const { return session_->world; }
  Session& session() const { return *session_; }
  Team& team() const { return *team_; }
  Messages& messages() const { return *messages_; }
  int rank() const { return session_->world.rank(); }
  int ranks() const { return session_->world.size(); }

  // A part of an iteration under the number of its phase, its exposed seconds apart. Parts do not overlap.
  class Part {
   public:
    Part(Npb& of, std::size_t phase);
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    Npb& of_;
    std::size_t phase_;
    double exposed_ = 0;
  };
  Part part(std::size_t phase) { return {*this, phase}; }
  void add_exposed(double seconds) { reduced_ += seconds; }
  // A team's call within a timed part, whose seconds count as exposed.
  template <class T>
  void all_reduce(std::span<T> values, Fold fold) {
    if (messages_) messages_->settle();
    const double begin = now_seconds();
    team_->all_reduce(values, fold);
    reduced_ += now_seconds() - begin;
  }

 private:
  std::vector<Form> forms() const;
  Traffic traffic() const;

  Choice class_{
      *this, {"class", "problem of the NPB: size, iterations, official values"}, "A", {"S", "W", "A", "B", "C"}};
  Choice form_{*this,
               {"form", "messages: by a transport, by puts with signals, or by a barrier and gets; all: each of them"},
               "all",
               {"all", "two-sided", "signal", "barrier"}};
  Choice variant_{*this,
                  {"variant", "host: loops of the processes; device: kernels (npb_is, npb_mg), sent by a transport"},
                  "host",
                  {"host", "device"}};
  Parameter<std::int64_t> iterations_{
      *this, {"iterations", "timed iterations, without official values; 0: the class's"}, 0, {0, 1000000}};

  const Facts facts_;
  Session* session_ = nullptr;
  std::unique_ptr<Team> team_;
  std::unique_ptr<Messages> messages_;
  Timed* timed_ = nullptr;  // null: untimed
  double reduced_ = 0;      // seconds in reductions
  std::vector<double> exposed_by_phase_;
};

}  // namespace plumb::npb
