// Right, but slow: transports, queues and kernels that wait for a share of what they take. PLUMB_MUTANT_WAITS names
// where and the share: a transport by its name, as staged:0.25, or queue:0.5, launch:0.25, kernel:0.25 (of `native`).
// Nothing that waits may be part of what a run is judged by: these must come out slow.
#include <cstdlib>

#include "measure/clock.hpp"
#include "tests/mutants/mutants.hpp"
#include "tests/mutants/spoiled_device.hpp"

namespace plumb::mutants {

namespace {

// As long as `share` of the time since `begin`.
void wait_since(double begin, double share) {
  const double now = now_seconds(), until = now + share * (now - begin);
  while (now_seconds() < until) {
  }
}

class WaitingExchange : public CompiledExchange {
 public:
  WaitingExchange(std::unique_ptr<CompiledExchange> real, double share) : real_(std::move(real)), share_(share) {}
  void set_sizes(const std::vector<StepSizes>& sizes) override { real_->set_sizes(sizes); }
  void start(std::uint64_t first, std::uint64_t count) override {
    begin_ = now_seconds();
    real_->start(first, count);
  }
  void start_after(Queue& queue, std::uint64_t first, std::uint64_t count) override {
    begin_ = now_seconds();
    real_->start_after(queue, first, count);
  }
  void precede(Queue& queue) override { real_->precede(queue); }
  bool test() override {
    const bool done = real_->test();
    if (done) wait_since(begin_, share_);
    return done;
  }
  void wait() override {
    real_->wait();
    wait_since(begin_, share_);
  }

 private:
  std::unique_ptr<CompiledExchange> real_;
  double share_, begin_ = 0;
};

class WaitingTransport : public Transport {
 public:
  WaitingTransport(std::unique_ptr<Transport> real, double share) : real_(std::move(real)), share_(share) {}
  const TransportInfo& info() const override { return real_->info(); }
  Transport* host_leg() override { return real_->host_leg(); }
  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) override {
    return std::make_unique<WaitingExchange>(real_->compile(exchange), share_);
  }

 private:
  std::unique_ptr<Transport> real_;
  double share_;
};

// Waits when commands are awaited (queue), or when a kernel is started (launch).
class WaitingQueue : public ServedQueue {
 public:
  WaitingQueue(std::unique_ptr<Queue> real, double share, bool at_launch)
      : ServedQueue(std::move(real)), share_(share), at_launch_(at_launch) {}
  void enqueue_read(const BufferView& from, std::byte* to) override {
    note();
    ServedQueue::enqueue_read(from, to);
  }
  void enqueue_write(const std::byte* from, const BufferView& to) override {
    note();
    ServedQueue::enqueue_write(from, to);
  }
  void enqueue(Kernel& kernel, const KernelRange& range) override {
    note();
    const double begin = now_seconds();
    ServedQueue::enqueue(kernel, range);
    if (!at_launch_) return;
    ServedQueue::finish();
    wait_since(begin, share_);
  }
  void finish() override {
    ServedQueue::finish();
    if (begin_ > 0 && !at_launch_) wait_since(begin_, share_);
    begin_ = 0;
  }

 private:
  void note() {
    if (begin_ == 0) begin_ = now_seconds();
  }

  double share_, begin_ = 0;
  bool at_launch_;
};

KernelSource with_waiting_kernels(KernelSource source, double share) {
  for (auto& [name, kernel] : source.native)
    kernel = [real = std::move(kernel), share](std::span<const KernelArgument> arguments, const KernelRange& range) {
      const double begin = now_seconds();
      real(arguments, range);
      wait_since(begin, share);
    };
  return source;
}

// The kernels that parts run are not the ones that are judged: their sources are left as they are.
class WaitingDevice : public SpoiledDevice {
 public:
  WaitingDevice(std::unique_ptr<Device> real, MakeQueue make, AlterKernels alter)
      : SpoiledDevice(*real, std::move(make), std::move(alter)), real_(std::move(real)) {}

 private:
  std::unique_ptr<Device> real_;
};

class WaitingRuntime : public Runtime {
 public:
  WaitingRuntime(std::unique_ptr<Runtime> real, std::string where, double share)
      : real_(std::move(real)), where_(std::move(where)), share_(share) {}
  std::string name() const override { return real_->name(); }
  std::vector<DeviceInfo> infos() override { return real_->infos(); }
  std::string why_none() const override { return real_->why_none(); }
  std::unique_ptr<Device> open(const DeviceInfo& info) override {
    MakeQueue make;
    AlterKernels alter;
    if (where_ == "kernel")
      alter = [share = share_](KernelSource source) {
        return source.name == "ceilings.cl" ? source : with_waiting_kernels(std::move(source), share);
      };
    else
      make = [share = share_, at_launch = where_ == "launch"](std::unique_ptr<Queue> real) {
        return std::make_unique<WaitingQueue>(std::move(real), share, at_launch);
      };
    return std::make_unique<WaitingDevice>(real_->open(info), make, alter);
  }

 private:
  std::unique_ptr<Runtime> real_;
  std::string where_;
  double share_;
};

template <class Factory, class Make>
void replace(const std::string& name, Make make) {
  const Factory* found = Registry<Factory>::instance().find(name);
  if (found != nullptr) const_cast<Factory&>(*found) = make(*found);
}

}  // namespace

void register_waiting() {
  const char* const wish = std::getenv("PLUMB_MUTANT_WAITS");
  if (wish == nullptr) return;
  const std::string text = wish, where = text.substr(0, text.find(':'));
  const double share = std::atof(text.substr(text.find(':') + 1).c_str());
  replace<TransportEntry>(where, [&](TransportEntry entry) {
    entry.make = [make = entry.make, share](World& world, Device& device, const TransportWish& asked) {
      return std::make_unique<WaitingTransport>(make(world, device, asked), share);
    };
    return entry;
  });
  if (where != "queue" && where != "launch" && where != "kernel") return;
  for (const char* name : {"native", "opencl"})
    replace<RuntimeFactory>(name, [&](RuntimeFactory make) -> RuntimeFactory {
      return [make, where, share] { return std::make_unique<WaitingRuntime>(make(), where, share); };
    });
}

}  // namespace plumb::mutants
