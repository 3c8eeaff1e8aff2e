#include "tests/mutants/waits.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <thread>

#include "benchmarks/apps/shallow_water/shallow_water.hpp"
#include "benchmarks/device/noise/noise.hpp"
#include "benchmarks/hpcc/b_eff/b_eff.hpp"
#include "benchmarks/hpcc/fft/fft.hpp"
#include "benchmarks/hpcc/gemm/gemm.hpp"
#include "benchmarks/hpcc/hpl/hpl.hpp"
#include "benchmarks/hpcc/mpi_fft/mpi_fft.hpp"
#include "benchmarks/hpcc/ptrans/ptrans.hpp"
#include "benchmarks/hpcc/random_access/random_access.hpp"
#include "benchmarks/hpcc/stream/stream.hpp"
#include "benchmarks/osu/mpi/mpi_osu.hpp"
#include "benchmarks/shmem/graph500/graph500.hpp"
#include "benchmarks/shmem/gups/gups.hpp"
#include "benchmarks/shmem/npb/ep.hpp"
#include "benchmarks/shmem/npb/flow_benchmark.hpp"
#include "benchmarks/shmem/npb/is.hpp"
#include "benchmarks/shmem/npb/mg.hpp"
#include "benchmarks/shmem/ssca1/ssca1.hpp"
#include "measure/clock.hpp"
#include "tests/mutants/spoiled_device.hpp"
#include "transport/port.hpp"
#include "world/mpi_one_sided.hpp"

namespace plumb::mutants {

namespace {

constexpr const char* waits_variable = "PLUMBLINE_MUTANT_WAITS";
constexpr double late_waking = 100e-6;  // seconds, at most, after a sleep; longer where cores are busy

struct Waits {
  std::string where = {};
  double share = 0;
  std::string key = {};
  bool now = false;  // during a sample of a waiting case

  // For an operation that began at `begin` and has just ended. The core is free but for the end: a driver's threads
  // that end theirs would wait for it, which no slow kernel makes them do.
  void after(double begin) const {
    if (!now) return;
    const double end = now_seconds(), until = end + share * (end - begin);
    if (until - end > 2 * late_waking)
      std::this_thread::sleep_for(std::chrono::duration<double>(until - end - late_waking));
    while (now_seconds() < until) {
    }
  }
};

// Of this process; shared by waiting benchmarks with their queues and exchanges.
Waits& waits_of_process() {
  static Waits waits;
  return waits;
}

Waits parse_waits(const std::string& text) {
  std::istringstream words(text);
  Waits waits;
  std::string percent;
  std::getline(words, waits.where, ':');
  std::getline(words, percent, ':');
  std::getline(words, waits.key);
  char* end = nullptr;
  waits.share = std::strtod(percent.c_str(), &end) / 100;
  const bool known =
      waits.where == "queue" || waits.where == "transport" || waits.where == "kernel" || waits.where == "run";
  if (!known || percent.empty() || *end != '\0' || !(waits.share >= 0))
    throw UsageError(
        fmt::format("{} must be queue, transport, kernel or run, a percentage, and perhaps a case, as in "
                    "queue:25:copy, not '{}'",
                    waits_variable, text));
  return waits;
}

// Its input is complete later.
class WaitingQueue : public ServedQueue {
 public:
  using ServedQueue::ServedQueue;
  void enqueue_read(const BufferView& from, std::byte* to) override { begun().enqueue_read(from, to); }
  void enqueue_write(const std::byte* from, const BufferView& to) override { begun().enqueue_write(from, to); }
  void enqueue_copy(const BufferView& from, const BufferView& to) override { begun().enqueue_copy(from, to); }
  void enqueue(Kernel& kernel, const KernelRange& range) override { begun().enqueue(kernel, range); }
  void finish() override {
    real().finish();
    end();
  }
  bool finished() override {
    if (!real().finished()) return false;
    end();
    return true;
  }
  Queue& served() { return real(); }

 private:
  Queue& begun() {
    if (begin_ == 0) begin_ = now_seconds();
    return real();
  }
  void end() {
    if (begin_ != 0) waits_of_process().after(begin_);
    begin_ = 0;
  }

  double begin_ = 0;  // of the first command not yet awaited
};

// Kernels of `native` only.
KernelSource with_waiting_kernels(KernelSource source) {
  for (auto& [name, kernel] : source.native)
    kernel = [real = std::move(kernel)](std::span<const KernelArgument> arguments, const KernelRange& range) {
      const double begin = now_seconds();
      real(arguments, range);
      waits_of_process().after(begin);
    };
  return source;
}

Queue& served_by(Queue& queue) {
  auto* const waiting = dynamic_cast<WaitingQueue*>(&queue);
  return waiting != nullptr ? waiting->served() : queue;
}

class WaitingExchange : public CompiledExchange {
 public:
  WaitingExchange(std::unique_ptr<CompiledExchange> real, bool waits) : real_(std::move(real)), waits_(waits) {}
  void set_sizes(const std::vector<StepSizes>& sizes) override { real_->set_sizes(sizes); }
  void start(std::uint64_t first, std::uint64_t count) override {
    begin_ = now_seconds();
    real_->start(first, count);
  }
  void start_after(Queue& queue, std::uint64_t first, std::uint64_t count) override {
    begin_ = now_seconds();
    real_->start_after(served_by(queue), first, count);
  }
  void precede(Queue& queue) override {
    real_->precede(served_by(queue));
    test();  // complete where the host waited
  }
  bool test() override {
    if (!real_->test()) return false;
    end();
    return true;
  }
  void wait() override {
    real_->wait();
    end();
  }

 private:
  void end() {
    if (waits_ && begin_ != 0) waits_of_process().after(begin_);
    begin_ = 0;
  }

  std::unique_ptr<CompiledExchange> real_;
  bool waits_;
  double begin_ = 0;  // of a run in progress
};

class WaitingTransport : public Transport {
 public:
  WaitingTransport(Transport& real, bool waits) : real_(real), waits_(waits) {}
  const TransportInfo& info() const override { return real_.info(); }
  Transport* host_leg() override { return real_.host_leg(); }
  Json facts() const override { return real_.facts(); }
  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) override {
    return std::make_unique<WaitingExchange>(real_.compile(exchange), waits_);
  }
  std::unique_ptr<Port> open_port(const Exchange& exchange, const KernelSource& source,
                                  const std::string& kernel) override {
    return real_.open_port(exchange, source, kernel);
  }

 private:
  Transport& real_;
  bool waits_;
};

template <class Base>
class Waiting : public Base {
 public:
  using Base::Base;
  void prepare_group(Session& session, const Group& group, Timed& timed) override {
    const std::string& where = waits_of_process().where;
    const auto wait = [](std::unique_ptr<Queue> queue) { return std::make_unique<WaitingQueue>(std::move(queue)); };
    if (where == "queue") device_ = std::make_unique<SpoiledDevice>(session.device, wait);
    if (where == "kernel") device_ = std::make_unique<SpoiledDevice>(session.device, nullptr, with_waiting_kernels);
    if (session.transport != nullptr) {
      Transport* real = session.transport;
      if (device_) {  // a transport makes its own queues
        own_ = find_transport(real->info().name).make(session.world, *device_, {});
        real = own_.get();
      }
      transport_ = std::make_unique<WaitingTransport>(*real, where == "transport");
    }
    session_.emplace(Session{session.world, device_ ? *device_ : session.device, transport_.get(), session.memory,
                             session.seed, session.kernel_file});
    Base::prepare_group(*session_, group, timed);
  }
  void prepare(Session&, const Case& measured) override { Base::prepare(*session_, measured); }
  void reset(Session&, const Case& measured, std::uint64_t repetition, std::uint64_t count) override {
    Base::reset(*session_, measured, repetition, count);
  }
  void run(Session&, const Case& measured, Timed& timed) override {
    Waits& waits = waits_of_process();
    waits.now = waits.key.empty() || measured.key == waits.key;
    const double begin = now_seconds();
    Base::run(*session_, measured, timed);
    if (waits.where == "run") waits.after(begin);
    waits.now = false;
  }
  Validation validate(Session&, const Case& measured, std::uint64_t repetition, std::uint64_t count) override {
    return Base::validate(*session_, measured, repetition, count);
  }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Transport> own_, transport_;
  std::optional<Session> session_;
};

template <class Base, class... Arguments>
void replace_by_waiting(const std::string& name, Arguments... arguments) {
  Registry<BenchmarkFactory>::instance().replace(
      name, [arguments...] { return std::make_unique<Waiting<Base>>(arguments...); });
}

}  // namespace

void register_waiting_benchmarks() {
  const char* const text = std::getenv(waits_variable);
  if (text == nullptr) return;
  waits_of_process() = parse_waits(text);
  replace_by_waiting<stream::Stream>("stream");
  replace_by_waiting<gemm::Gemm>("gemm");
  replace_by_waiting<fft::Fft>("fft");
  replace_by_waiting<random_access::RandomAccess>("random_access");
  replace_by_waiting<b_eff::BEff>("b_eff");
  replace_by_waiting<ptrans::Ptrans>("ptrans");
  replace_by_waiting<hpl::Hpl>("hpl");
  replace_by_waiting<noise::Noise>("noise");
  replace_by_waiting<osu::Osu>("osu", "");
  replace_by_waiting<mpi_fft::MpiFft>("mpi_fft");
  replace_by_waiting<shallow_water::ShallowWater>("shallow_water");
  replace_by_waiting<gups::Gups>("gups", gups::make_updater<MpiOneSided>);
  replace_by_waiting<graph500::Graph500>("graph500");
  replace_by_waiting<ssca1::Ssca1>("ssca1");
  replace_by_waiting<npb::Is>("npb_is");
  replace_by_waiting<npb::Ep>("npb_ep");
  replace_by_waiting<npb::Mg>("npb_mg");
  replace_by_waiting<npb::FlowBenchmark>("npb_bt", npb::Method::bt);
  replace_by_waiting<npb::FlowBenchmark>("npb_sp", npb::Method::sp);
  replace_by_waiting<npb::FlowBenchmark>("npb_lu", npb::Method::lu);
}

}  // namespace plumb::mutants
