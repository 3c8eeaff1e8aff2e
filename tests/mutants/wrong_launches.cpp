// HPL over queues that omit one launch of a kernel, or one copy, of a sample: mutant-launches-hpl has its case once for
// each kernel and place of the omitted launch, and all whose kernel is launched must be `failed`.
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "benchmarks/hpcc/hpl/hpl.hpp"
#include "tests/mutants/spoiled_device.hpp"
#include "transport/transport.hpp"

namespace plumb::mutants::of_launches {

namespace {

constexpr const char* copy = "copy";  // stands for enqueue_copy()

// Those of a factorisation and the solves. Without begin_panel: it sets what a poisoned panel's head has already.
constexpr std::array omitted_kernels{copy,
                                     "copy_rows",
                                     "copy_block",
                                     "transpose_part",
                                     "search_column",
                                     "take_pivot",
                                     "tell_candidate",
                                     "take_candidate",
                                     "eliminate",
                                     "factor_columns",
                                     "factor_columns_alone",
                                     "solve_columns",
                                     "exchange_and_solve",
                                     "update_columns",
                                     "invert",
                                     "pack_a",
                                     "pack_b",
                                     "multiply",
                                     "solve_lower",
                                     "solve_upper",
                                     "subtract_product"};
constexpr std::array omitted_places{"first", "middle", "last"};

// Launches of each kernel since the sample began, and the one to omit.
struct Sample {
  std::string kernel;  // "": nothing is omitted
  std::uint64_t index = 0;
  std::map<std::string, std::uint64_t> launched;

  bool executes(const std::string& name) {
    const std::uint64_t at = launched[name]++;
    return name != kernel || at != index;
  }
};

class NamedKernel : public Kernel {
 public:
  NamedKernel(std::unique_ptr<Kernel> real, std::string name) : real_(std::move(real)), name_(std::move(name)) {}
  void set(const std::vector<KernelArgument>& arguments) override { real_->set(arguments); }
  void set(std::size_t index, const KernelArgument& argument) override { real_->set(index, argument); }
  Kernel& real() { return *real_; }
  const std::string& name() const { return name_; }

 private:
  std::unique_ptr<Kernel> real_;
  std::string name_;
};

class NamedProgram : public Program {
 public:
  explicit NamedProgram(std::unique_ptr<Program> real) : real_(std::move(real)) {}
  std::unique_ptr<Kernel> kernel(const std::string& name) override {
    return std::make_unique<NamedKernel>(real_->kernel(name), name);
  }
  std::vector<std::string> kernel_names() const override { return real_->kernel_names(); }

 private:
  std::unique_ptr<Program> real_;
};

class OmittingQueue : public ServedQueue {
 public:
  OmittingQueue(std::unique_ptr<Queue> real, Sample& sample) : ServedQueue(std::move(real)), sample_(sample) {}
  void enqueue_copy(const BufferView& from, const BufferView& to) override {
    if (sample_.executes(copy)) real().enqueue_copy(from, to);
  }
  void enqueue(Kernel& kernel, const KernelRange& range) override {
    auto& named = dynamic_cast<NamedKernel&>(kernel);
    if (sample_.executes(named.name())) real().enqueue(named.real(), range);
  }

 private:
  Sample& sample_;
};

class OmittingDevice : public SpoiledDevice {
 public:
  explicit OmittingDevice(Device& real)
      : SpoiledDevice(real, [this](std::unique_ptr<Queue> queue) {
          return std::make_unique<OmittingQueue>(std::move(queue), sample);
        }) {}
  std::unique_ptr<Program> build(const KernelSource& source) override {
    return std::make_unique<NamedProgram>(SpoiledDevice::build(source));
  }

  Sample sample;
};

// The last column has no rows below: its row is the pivot whatever is told of it, and nothing is eliminated.
bool is_of_use(const std::string& kernel, const std::string& place) {
  return place != "last" || (kernel != "eliminate" && kernel != "tell_candidate");
}

// Its first sample is right, and counts the launches.
class HplWithoutLaunch : public hpl::Hpl {
 public:
  std::string name() const override { return "mutant-launches-hpl"; }

  std::vector<Group> groups(const Plan& plan) const override {
    std::vector<Group> groups = Hpl::groups(plan);
    std::vector<Case> cases;
    for (const char* kernel : omitted_kernels)
      for (const char* place : omitted_places) {
        if (!is_of_use(kernel, place)) continue;
        Case& wrong = cases.emplace_back(groups.front().cases.front());
        wrong.key = std::string(kernel) + "/" + place + "/" + wrong.key;
        wrong.labels["omitted"] = kernel;
        wrong.labels["place"] = place;
      }
    groups.front().cases = std::move(cases);
    return groups;
  }
  void prepare(Session& session, const Case& measured) override {
    device_ = std::make_unique<OmittingDevice>(session.device);
    session_.emplace(Session{session.world, *device_, session.transport, session.memory, session.seed});
    counted_.clear();
    Hpl::prepare(*session_, measured);
  }
  void reset(Session&, const Case& measured, std::uint64_t repetition, std::uint64_t count) override {
    Hpl::reset(*session_, measured, repetition, count);
  }
  void run(Session&, const Case& measured, Timed& timed) override {
    device_->sample = {};
    if (!counted_.empty()) omit(measured.labels.at("omitted"), measured.labels.at("place"));
    Hpl::run(*session_, measured, timed);
    if (counted_.empty()) counted_ = device_->sample.launched;
    device_->sample = {};
  }
  Validation validate(Session&, const Case& measured, std::uint64_t repetition, std::uint64_t count) override {
    return Hpl::validate(*session_, measured, repetition, count);
  }
  void release() override {
    Hpl::release();
    session_.reset();
    device_.reset();
  }

 private:
  void omit(const std::string& kernel, const std::string& place) {
    const std::uint64_t count = counted_[kernel];
    if (count == 0) return;
    std::uint64_t index = place == "first" ? 0 : place == "middle" ? count / 2 : count - 1;
    // A column each. In a panel's first two columns the candidates are those of the panel before, whose rows may be
    // above this one; in the first panel's, the poison.
    if (kernel == "tell_candidate") index = (index + block() - 1) / block() * block();
    device_->sample.kernel = kernel;
    device_->sample.index = index;
  }
  std::uint64_t block() const { return layout().block; }

  std::unique_ptr<OmittingDevice> device_;
  std::optional<Session> session_;
  std::map<std::string, std::uint64_t> counted_;
};

const RegisteredBenchmark hpl_without_launch{"mutant-launches-hpl",
                                             [] { return std::make_unique<HplWithoutLaunch>(); }};

}  // namespace

}  // namespace plumb::mutants::of_launches
