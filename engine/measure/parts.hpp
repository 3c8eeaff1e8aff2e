// Parts: the limits of a run's cases, measured in the same launch, before, between, after or within them. They are
// cases of ordinary benchmarks (`ceilings`, `links`), with the same validation, on a device with bare queues.
//
// Cores have slow moments of tenths of seconds, as other machines use the same processor. Parts measured within a case,
// each a repetition after some of the case's, meet the same ones, so that the ratio of both is steady.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/case_run.hpp"

namespace plumb {

// A device whose queues are plain calls of its runtime. It builds each program once: parts are prepared at each visit.
class BareDevice : public Device {
 public:
  explicit BareDevice(Device& real) : real_(real) {}
  const DeviceInfo& info() const override { return real_.info(); }
  std::unique_ptr<Buffer> allocate(std::size_t bytes, const Placement& p) override { return real_.allocate(bytes, p); }
  std::string share(const Buffer& buffer) override { return real_.share(buffer); }
  std::unique_ptr<Buffer> open_shared(const std::string& handle) override { return real_.open_shared(handle); }
  std::unique_ptr<Queue> make_queue(bool) override { return real_.make_bare_queue(); }
  std::unique_ptr<Queue> make_bare_queue() override { return real_.make_bare_queue(); }
  std::unique_ptr<Program> build(const KernelSource& source) override;

 private:
  Device& real_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Program>> built_;  // by text and options
};

// Parses --parts, benchmarks with options: "ceilings only=launch,memory size=24; links ring=random"; "within=KEY,KEY"
// are the cases within which they are measured. Throws UsageError.
std::vector<PartsOf> parse_parts(const std::string& text);

class Parts : public Between {
 public:
  // Budget: this share of the run so far, or these seconds, of first visits and of others, whichever is larger.
  static constexpr double most_share = 0.12, least_seconds = 0.3, least_seconds_again = 0.1;
  // Of a case, for the parts within it.
  static constexpr double share_within = 0.07;
  // Between them: a case's first repetition after them finds other data in the caches, and must be one of many.
  static constexpr double seconds_apart = 0.05;

  Parts(Session& session, const RunSettings& settings, SynchronisedStart& start);

  bool none() const { return parts_.empty(); }
  // Collective, before `group` is prepared: if it needs more memory than the last one, those within cases are released.
  void enter(const Group& group);
  // Collective: visits the parts of `next`, the coming case (null: after the last). A part of one message size belongs
  // to the cases of that size and is measured within them; others belong to all cases and are visited before the first.
  // Those visited least come first. Visits (before, between and after cases, and again if the samples of a visit
  // differ) are made within the budget. A part that finds it spent waits for its first visit until the run is long
  // enough, before others are visited again, at the latest until the last case: without it there is no verdict, so
  // first visits may exceed the budget.
  void visit(const Case* next, std::size_t finished);
  // Collective, after the given number of measurements of `measured`: whether to measure it again, since its ratio to
  // the part that belongs to it only exceeds that of earlier cases. Visits this part, in repetitions of as many
  // operations, again if it takes long beside the case, unless it was measured within it. Rank 0 has the record.
  bool stands_out(const Case& measured, const CaseRecord& record, std::size_t finished, std::uint64_t measurements);
  // Whether parts are to be measured within `measured`, which comes next and must outlive end_within().
  bool are_within(const Case& measured);
  // Collective: prepares them, those of the case only with as many operations, and gathers their repetitions. Others
  // stay prepared for the next case if they belong to it, too. One that cannot be prepared beside the case, or takes
  // more than half of the memory that the case leaves, is visited like the others instead.
  void begin(std::uint64_t count) override;
  void end_within(std::size_t finished);
  bool is_due() const override;
  void take(std::size_t kept) override;
  // Rank 0.
  Json json() const;

 private:
  struct Visit {
    double at = 0;             // seconds since the run began
    std::size_t finished = 0;  // number of cases before it
    std::uint64_t count = 1;
    std::vector<double> seconds;           // of one count, the slowest rank of each repetition
    std::vector<std::size_t> kept;         // of each: the case's repetitions before it; empty beside cases
    std::map<std::string, double> shares;  // share of each component in the part's time
    std::string within;                    // key of the case; "" = beside cases, or within those it belongs to only
    double cost = 0;                       // seconds, with preparation and validation
  };
  struct Part {
    std::size_t of = 0;  // index of the benchmark
    Case measured;
    Outcome outcome = {};
    Json validation = nullptr;
    std::vector<Visit> visits = {};
    bool shared = false;  // by cases of any size
    bool pending = false, dropped = false;
    bool apart = false;                    // not measured within cases: no room
    std::vector<std::string> within = {};  // keys of cases
    std::uint64_t bytes = 0;               // of its buffers
  };
  // A part that is prepared, and measured within a case.
  struct Within {
    Part* part = nullptr;
    CaseRecord record = {};
    std::vector<std::size_t> kept = {};  // repetitions of the case before each of its own
    double begin = 0;                    // seconds since the run began
    double cost = 0;                     // seconds for this case
  };

  static bool is_within(const Part& part, const std::string& key);
  // Of the cases of one message size only, `measured` among them.
  bool is_own(const Part& part, const Case& measured) const { return !part.shared && belongs(part, measured); }
  bool belongs(const Part& part, const Case& measured) const;
  bool is_affordable(const Part& part) const;
  bool has_budget(const Part& part) const;
  bool is_noisy(const Part& part) const;
  void warm_up(const Case& next);
  bool is_to_be_within(const Part& part) const;
  bool open(Part& part);
  void sample(Within& one, std::size_t kept);
  void close_others(const Case* next);
  template <class Stays>
  void close_unless(Stays stays);
  void visit_well(Part& part, std::size_t finished);
  void visit_beside(Part& part, const CaseRecord& record, std::size_t finished);
  double usual_ratio() const;
  std::optional<double> ratio_to(const Part& part, const CaseRecord& record) const;
  void measure(Part& part, std::size_t finished);
  void take_outcome(Part& part, const CaseRecord& record);
  static void add_visit(Part& part, const CaseRecord& record, Visit visit);

  World& world_;
  BareDevice device_;
  Session session_;
  RunSettings settings_;
  std::vector<std::shared_ptr<Benchmark>> benchmarks_;
  std::vector<std::unique_ptr<CaseRun>> runs_;  // by benchmark
  std::vector<Part> parts_;
  double begin_, spent_ = 0;
  std::vector<double> ratios_;  // ratios of cases to the parts that belong to them only; rank 0
  bool warm_ = false;
  std::vector<Within> open_;
  const Case* around_ = nullptr;  // within which they are
  bool begun_ = false;            // of this case
  bool own_within_ = false;       // its own part is among them
  std::uint64_t group_bytes_ = 0;
  double taken_ = 0;  // end of the last take()
  double next_ = 0;   // time of the next
};

}  // namespace plumb
