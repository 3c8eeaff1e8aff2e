// Benchmarks of one device over queues that execute only some of a sample's operations: mutant-queues-NAME has each
// case once for each way of omitting operations, and all must be `failed`.
#include <algorithm>
#include <deque>
#include <functional>
#include <optional>

#include "benchmarks/device/ceilings/ceilings.hpp"
#include "benchmarks/hpcc/b_eff/b_eff.hpp"
#include "benchmarks/hpcc/fft/fft.hpp"
#include "benchmarks/hpcc/gemm/gemm.hpp"
#include "benchmarks/hpcc/ptrans/ptrans.hpp"
#include "benchmarks/hpcc/stream/stream.hpp"
#include "tests/mutants/spoiled_device.hpp"
#include "transport/transport.hpp"

namespace plumb::mutants {

namespace {

// Whether operation `index` of `count` is executed.
using Executes = std::function<bool(std::uint64_t index, std::uint64_t count)>;

Executes first_of_count_modulo(std::uint64_t m) {
  return [m](std::uint64_t index, std::uint64_t count) { return index < count % m; };
}

const std::vector<std::pair<std::string, Executes>>& ways() {
  static const std::vector<std::pair<std::string, Executes>> all{
      {"first", [](std::uint64_t index, std::uint64_t) { return index == 0; }},
      {"last", [](std::uint64_t index, std::uint64_t count) { return index + 1 == count; }},
      {"every-second", [](std::uint64_t index, std::uint64_t) { return index % 2 == 0; }},
      {"all-but-one", [](std::uint64_t index, std::uint64_t count) { return index != count / 2; }},
      {"mod-2", first_of_count_modulo(2)},
      {"mod-3", first_of_count_modulo(3)},
      {"mod-4", first_of_count_modulo(4)},
      {"mod-6", first_of_count_modulo(6)},
      {"mod-8", first_of_count_modulo(8)},
      {"mod-16", first_of_count_modulo(16)},
  };
  return all;
}

// No multiple of any m above, and not one more than it, except 2: nothing would be omitted of one operation.
constexpr std::uint64_t operations = 23;

// A sample in progress: the operations that its queues omit.
struct Sample {
  std::uint64_t operations = 0;  // 0: no sample, and everything is executed
  const Executes* executes = nullptr;
};

// Keeps its arguments, which a queue sets at the launch.
class RecordedKernel : public Kernel {
 public:
  explicit RecordedKernel(std::unique_ptr<Kernel> real) : real_(std::move(real)) {}
  void set(const std::vector<KernelArgument>& arguments) override {
    arguments_ = arguments;
    real_->set(arguments);
  }
  void set(std::size_t index, const KernelArgument& argument) override { arguments_.at(index) = argument; }
  Kernel& with(const std::vector<KernelArgument>& arguments) {
    real_->set(arguments);
    return *real_;
  }
  const std::vector<KernelArgument>& arguments() const { return arguments_; }

 private:
  std::unique_ptr<Kernel> real_;
  std::vector<KernelArgument> arguments_;
};

class RecordedProgram : public Program {
 public:
  explicit RecordedProgram(std::unique_ptr<Program> real) : real_(std::move(real)) {}
  std::unique_ptr<Kernel> kernel(const std::string& name) override {
    return std::make_unique<RecordedKernel>(real_->kernel(name));
  }
  std::vector<std::string> kernel_names() const override { return real_->kernel_names(); }

 private:
  std::unique_ptr<Program> real_;
};

// Keeps the commands of a sample until they are awaited, and then executes those of some operations.
class LeavingOut : public ServedQueue {
 public:
  LeavingOut(std::unique_ptr<Queue> real, const Sample& sample) : ServedQueue(std::move(real)), sample_(sample) {}
  void enqueue_read(const BufferView& from, std::byte* to) override {
    keep([this, from, to] { real().enqueue_read(from, to); });
  }
  void enqueue_write(const std::byte* from, const BufferView& to) override {
    keep([this, from, to] { real().enqueue_write(from, to); });
  }
  void enqueue_copy(const BufferView& from, const BufferView& to) override {
    keep([this, from, to] { real().enqueue_copy(from, to); });
  }
  void enqueue(Kernel& kernel, const KernelRange& range) override {
    auto& recorded = dynamic_cast<RecordedKernel&>(kernel);
    keep([this, &recorded, arguments = recorded.arguments(), range] {
      real().enqueue(recorded.with(arguments), range);
    });
  }
  void enqueue_call(const std::function<void(Queue&)>& call) override {
    keep([this, call] { real().enqueue_call(call); });
  }
  void finish() override {
    execute();
    real().finish();
  }
  bool finished() override {
    execute();
    return real().finished();
  }

 private:
  void keep(std::function<void()> command) {
    if (sample_.operations == 0) return command();
    kept_.push_back(std::move(command));
  }
  // All commands of the sample at once, or those of one operation after the other.
  void execute() {
    if (sample_.operations == 0) begun_ = 0;
    const std::uint64_t of_one =
        std::max<std::uint64_t>(1, kept_.size() / std::max<std::uint64_t>(1, sample_.operations));
    for (std::size_t i = 0; i < kept_.size(); ++i)
      if ((*sample_.executes)(begun_ + i / of_one, sample_.operations)) kept_[i]();
    begun_ += kept_.size() / of_one;
    kept_.clear();
  }

  const Sample& sample_;
  std::deque<std::function<void()>> kept_;
  std::uint64_t begun_ = 0;  // operations of this sample
};

class LeavingOutDevice : public SpoiledDevice {
 public:
  explicit LeavingOutDevice(Device& real)
      : SpoiledDevice(real, [this](std::unique_ptr<Queue> queue) {
          return std::make_unique<LeavingOut>(std::move(queue), sample);
        }) {}
  std::unique_ptr<Program> build(const KernelSource& source) override {
    return std::make_unique<RecordedProgram>(SpoiledDevice::build(source));
  }

  Sample sample;
};

template <class Base>
class OverQueues : public Base {
 public:
  std::string name() const override { return "mutant-queues-" + Base::name(); }

  std::vector<Group> groups(const Plan& plan) const override {
    std::vector<Group> groups = Base::groups(plan);
    for (Group& group : groups) {
      std::vector<Case> cases;
      for (const Case& right : group.cases)
        for (const auto& way : ways()) {
          Case& wrong = cases.emplace_back(right);
          wrong.key = way.first + "/" + right.key;
          wrong.labels["queue"] = way.first;
          wrong.fixed_count = operations;
        }
      group.cases = std::move(cases);
    }
    return groups;
  }
  void prepare_group(Session& session, const Group& group, Timed& timed) override {
    device_ = std::make_unique<LeavingOutDevice>(session.device);
    session_.emplace(Session{session.world, *device_, session.transport, session.memory, session.seed});
    Base::prepare_group(*session_, group, timed);
  }
  void prepare(Session&, const Case& measured) override {
    for (const auto& way : ways())
      if (way.first == measured.labels.at("queue").get<std::string>()) device_->sample.executes = &way.second;
    Base::prepare(*session_, measured);
  }
  void reset(Session&, const Case& measured, std::uint64_t repetition, std::uint64_t count) override {
    Base::reset(*session_, measured, repetition, count);
  }
  void run(Session&, const Case& measured, Timed& timed) override {
    device_->sample.operations = timed.count();
    Base::run(*session_, measured, timed);
    device_->sample.operations = 0;
  }
  Validation validate(Session&, const Case& measured, std::uint64_t repetition, std::uint64_t count) override {
    return Base::validate(*session_, measured, repetition, count);
  }

 private:
  std::unique_ptr<LeavingOutDevice> device_;
  std::optional<Session> session_;
};

template <class Base>
RegisteredBenchmark over_queues(const std::string& name) {
  return {"mutant-queues-" + name, [] { return std::make_unique<OverQueues<Base>>(); }};
}

// The parts of b_eff that send nothing.
const RegisteredBenchmark benchmarks_over_queues[] = {
    over_queues<stream::Stream>("stream"), over_queues<gemm::Gemm>("gemm"),
    over_queues<fft::Fft>("fft"),          over_queues<ceilings::Ceilings>("ceilings"),
    over_queues<b_eff::BEff>("b_eff"),     over_queues<ptrans::Ptrans>("ptrans"),
};

}  // namespace

}  // namespace plumb::mutants
