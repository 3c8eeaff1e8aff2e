// Benchmarks over a device that fails in some repetitions: mutant-repetitions-NAME has each case once for each way of
// failing. A result of the first repetition may not pass for that of a later one.
#include <map>
#include <optional>
#include <string>

#include "benchmarks/apps/shallow_water/shallow_water.hpp"
#include "benchmarks/device/ceilings/ceilings.hpp"
#include "benchmarks/device/links/links.hpp"
#include "benchmarks/hpcc/b_eff/b_eff.hpp"
#include "benchmarks/hpcc/fft/fft.hpp"
#include "benchmarks/hpcc/gemm/gemm.hpp"
#include "benchmarks/hpcc/hpl/hpl.hpp"
#include "benchmarks/hpcc/mpi_fft/mpi_fft.hpp"
#include "benchmarks/hpcc/ptrans/ptrans.hpp"
#include "benchmarks/hpcc/random_access/random_access.hpp"
#include "benchmarks/hpcc/stream/stream.hpp"
#include "benchmarks/shmem/graph500/graph500.hpp"
#include "benchmarks/shmem/npb/is.hpp"
#include "benchmarks/shmem/npb/mg.hpp"
#include "benchmarks/shmem/ssca1/ssca1.hpp"
#include "tests/mutants/spoiled_device.hpp"

namespace plumb::mutants {

namespace {

struct MomentOfRun {
  std::uint64_t repetition = 0;
  bool is_timed = false;
  int rank = 0;
};

struct Failure {
  std::string name;
  bool (*omits)(const MomentOfRun&);  // what is given to the device
  bool reads_as_well;
  bool of_one_rank = false;
};

const std::vector<Failure>& failures() {
  static const std::vector<Failure> all{
      {"stale", [](const MomentOfRun& now) { return now.repetition > 1; }, false},
      {"dead", [](const MomentOfRun& now) { return now.repetition > 1; }, true},
      // With three repetitions: neither the first, nor the last.
      {"middle", [](const MomentOfRun& now) { return now.is_timed && now.repetition == 3; }, true},
      // On a rank that is not the slowest.
      {"rank", [](const MomentOfRun& now) { return now.is_timed && now.repetition == 3 && now.rank == 1; }, true, true},
  };
  return all;
}

struct FailingState {
  const Failure* way = nullptr;
  MomentOfRun now;
  bool omits() const { return way->omits(now); }
};

class FailingQueue : public ServedQueue {
 public:
  FailingQueue(std::unique_ptr<Queue> real, const FailingState& state) : ServedQueue(std::move(real)), state_(state) {}
  void enqueue_read(const BufferView& from, std::byte* to) override {
    if (!state_.omits() || !state_.way->reads_as_well) real().enqueue_read(from, to);
  }
  void enqueue_write(const std::byte* from, const BufferView& to) override {
    if (!state_.omits()) real().enqueue_write(from, to);
  }
  void enqueue_copy(const BufferView& from, const BufferView& to) override {
    if (!state_.omits()) real().enqueue_copy(from, to);
  }
  void enqueue(Kernel& kernel, const KernelRange& range) override {
    if (!state_.omits()) real().enqueue(kernel, range);
  }
  void enqueue_call(const std::function<void(Queue&)>& call) override {
    if (!state_.omits()) real().enqueue_call(call);
  }

 private:
  const FailingState& state_;
};

template <class Base>
class OverRepetitions : public Base {
 public:
  std::string name() const override { return "mutant-repetitions-" + Base::name(); }

  std::vector<Group> groups(const Plan& plan) const override {
    std::vector<Group> groups = Base::groups(plan);
    for (Group& group : groups) {
      std::vector<Case> cases;
      for (const Case& right : group.cases)
        for (const Failure& way : failures()) {
          if (way.of_one_rank && plan.ranks == 1) continue;
          Case& wrong = cases.emplace_back(right);
          wrong.key = way.name + "/" + right.key;
          wrong.labels["fails"] = way.name;
          if (wrong.fixed_count == 0) wrong.fixed_count = 1;
        }
      group.cases = std::move(cases);
    }
    return groups;
  }
  void prepare_group(Session& session, const Group& group, Timed& timed) override {
    take_from(session);
    Base::prepare_group(*session_, group, timed);
  }
  void prepare(Session& session, const Case& measured) override {
    if (!session_) take_from(session);  // of a part, which has no group
    for (const Failure& way : failures())
      if (way.name == measured.labels.at("fails").get<std::string>()) state_ = {&way, {}};
    Base::prepare(*session_, measured);
  }
  void reset(Session&, const Case& measured, std::uint64_t repetition, std::uint64_t count) override {
    // Cases that run once are repetitions of each other.
    const bool once = measured.policy.kind == CasePolicy::Kind::once;
    state_.now.repetition = once ? ++runs_[state_.way->name] : repetition;
    state_.now.rank = session_->world.rank();
    Base::reset(*session_, measured, repetition, count);
  }
  void run(Session&, const Case& measured, Timed& timed) override {
    state_.now.is_timed = true;
    Base::run(*session_, measured, timed);
    // What is left out takes half of the time, however busy the machine is.
    timed.instead(state_.omits() ? 0.5 : 1);
    state_.now.is_timed = false;
  }
  Validation validate(Session&, const Case& measured, std::uint64_t repetition, std::uint64_t count) override {
    return Base::validate(*session_, measured, repetition, count);
  }
  void release() override {
    state_.now = {};
    Base::release();
  }

 private:
  void take_from(Session& session) {
    state_ = {&failures().front(), {}};
    device_.emplace(session.device, [this](std::unique_ptr<Queue> queue) {
      return std::make_unique<FailingQueue>(std::move(queue), state_);
    });
    session_.emplace(Session{session.world, *device_, session.transport, session.memory, session.seed});
  }

  FailingState state_;
  std::map<std::string, std::uint64_t> runs_;
  std::optional<SpoiledDevice> device_;
  std::optional<Session> session_;
};

template <class Base>
RegisteredBenchmark over_repetitions(const std::string& name) {
  return {"mutant-repetitions-" + name, [] { return std::make_unique<OverRepetitions<Base>>(); }};
}

const RegisteredBenchmark benchmarks_over_repetitions[] = {
    over_repetitions<stream::Stream>("stream"),
    over_repetitions<gemm::Gemm>("gemm"),
    over_repetitions<fft::Fft>("fft"),
    over_repetitions<ceilings::Ceilings>("ceilings"),
    over_repetitions<random_access::RandomAccess>("random_access"),
    over_repetitions<b_eff::BEff>("b_eff"),
    over_repetitions<ptrans::Ptrans>("ptrans"),
    over_repetitions<mpi_fft::MpiFft>("mpi_fft"),
    over_repetitions<hpl::Hpl>("hpl"),
    over_repetitions<shallow_water::ShallowWater>("shallow_water"),
    over_repetitions<links::Links>("links"),
    over_repetitions<graph500::Graph500>("graph500"),
    over_repetitions<ssca1::Ssca1>("ssca1"),
    over_repetitions<npb::Is>("npb_is"),
    over_repetitions<npb::Mg>("npb_mg"),
};

}  // namespace

}  // namespace plumb::mutants
