// A device whose queues run their commands as late as their order allows: an order left out between two queues then
// shows, whatever a runtime makes of it.
#pragma once

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "tests/mutants/spoiled_device.hpp"

namespace plumb::mutants {

// Its arguments are those of the moment when it is enqueued.
class LateKernel : public Kernel {
 public:
  explicit LateKernel(std::unique_ptr<Kernel> real) : real_(std::move(real)) {}
  void set(const std::vector<KernelArgument>& arguments) override { arguments_ = arguments; }
  void set(std::size_t index, const KernelArgument& argument) override { arguments_.at(index) = argument; }
  std::function<void(Queue&)> launch(const KernelRange& range) {
    return [this, arguments = arguments_, range](Queue& queue) {
      real_->set(arguments);
      queue.enqueue(*real_, range);
    };
  }

 private:
  std::unique_ptr<Kernel> real_;
  std::vector<KernelArgument> arguments_;
};

class LateProgram : public Program {
 public:
  explicit LateProgram(std::unique_ptr<Program> real) : real_(std::move(real)) {}
  std::unique_ptr<Kernel> kernel(const std::string& name) override {
    return std::make_unique<LateKernel>(real_->kernel(name));
  }
  std::vector<std::string> kernel_names() const override { return real_->kernel_names(); }

 private:
  std::unique_ptr<Program> real_;
};

// Commands run once the host or another queue waits for them; at once if not late.
class LateQueue : public Queue {
 public:
  LateQueue(std::unique_ptr<Queue> real, bool is_late) : real_(std::move(real)), is_late_(is_late) {}
  void enqueue_read(const BufferView& from, std::byte* to) override {
    add([from, to](Queue& real) { real.enqueue_read(from, to); });
  }
  void enqueue_write(const std::byte* from, const BufferView& to) override {
    add([from, to](Queue& real) { real.enqueue_write(from, to); });
  }
  void enqueue_copy(const BufferView& from, const BufferView& to) override {
    add([from, to](Queue& real) { real.enqueue_copy(from, to); });
  }
  void enqueue(Kernel& kernel, const KernelRange& range) override {
    add(dynamic_cast<LateKernel&>(kernel).launch(range));
  }
  void finish() override { run_to(added_); }
  bool finished() override {  // who looks often waits
    constexpr int patience = 100;
    if (run_ < added_ && ++looks_ > patience) finish();
    return run_ == added_;
  }
  void follow(Queue& earlier) override {
    auto& other = dynamic_cast<LateQueue&>(earlier);
    add([&other, all = other.added_](Queue&) { other.run_to(all); });
  }

 private:
  void add(std::function<void(Queue&)> command) {
    commands_.push_back(std::move(command));
    ++added_;
    looks_ = 0;
    if (!is_late_) finish();
  }
  void run_to(std::uint64_t end) {
    while (run_ < end) {
      const auto command = std::move(commands_.front());
      commands_.pop_front();
      ++run_;
      command(*real_);
      real_->finish();
    }
  }

  std::unique_ptr<Queue> real_;
  bool is_late_;
  std::deque<std::function<void(Queue&)>> commands_;
  std::uint64_t added_ = 0, run_ = 0;
  int looks_ = 0;
};

// Either usual or urgent queues may be the late ones, or both.
class LateDevice : public SpoiledDevice {
 public:
  LateDevice(Device& real, bool usual_late, bool urgent_late)
      : SpoiledDevice(real), usual_late_(usual_late), urgent_late_(urgent_late) {}
  std::unique_ptr<Queue> make_queue(bool timed) override {
    return std::make_unique<LateQueue>(SpoiledDevice::make_queue(timed), usual_late_);
  }
  std::unique_ptr<Queue> make_urgent_queue() override {
    return std::make_unique<LateQueue>(SpoiledDevice::make_queue(false), urgent_late_);
  }
  std::unique_ptr<Program> build(const KernelSource& source) override {
    return std::make_unique<LateProgram>(SpoiledDevice::build(source));
  }

 private:
  bool usual_late_, urgent_late_;
};

}  // namespace plumb::mutants
