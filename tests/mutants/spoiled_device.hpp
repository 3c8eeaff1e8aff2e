// Devices that another one serves, with queues or kernels made wrong on purpose.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "device/device.hpp"

namespace plumb::mutants {

// A queue served by another one unchanged; mutants override its functions.
class ServedQueue : public Queue {
 public:
  explicit ServedQueue(std::unique_ptr<Queue> real) : real_(std::move(real)) {}
  void enqueue_read(const BufferView& from, std::byte* to) override { real_->enqueue_read(from, to); }
  void enqueue_write(const std::byte* from, const BufferView& to) override { real_->enqueue_write(from, to); }
  void enqueue_copy(const BufferView& from, const BufferView& to) override { real_->enqueue_copy(from, to); }
  void enqueue(Kernel& kernel, const KernelRange& range) override { real_->enqueue(kernel, range); }
  void enqueue_call(const std::function<void(Queue&)>& call) override { real_->enqueue_call(call); }
  void finish() override { real_->finish(); }
  bool finished() override { return real_->finished(); }
  void follow(Queue& earlier) override {
    auto* const served = dynamic_cast<ServedQueue*>(&earlier);
    real_->follow(served != nullptr ? *served->real_ : earlier);
  }
  std::optional<DeviceTime> span() const override { return real_->span(); }

 protected:
  Queue& real() { return *real_; }

 private:
  std::unique_ptr<Queue> real_;
};

using MakeQueue = std::function<std::unique_ptr<Queue>(std::unique_ptr<Queue> real)>;
using AlterKernels = std::function<KernelSource(KernelSource)>;

// A device with queues, or kernels, of its own making; null = the real ones.
class SpoiledDevice : public Device {
 public:
  explicit SpoiledDevice(Device& real, MakeQueue make = {}, AlterKernels alter = {})
      : real_(real), make_(std::move(make)), alter_(std::move(alter)) {}
  const DeviceInfo& info() const override { return real_.info(); }
  std::unique_ptr<Buffer> allocate(std::size_t bytes, const Placement& p) override { return real_.allocate(bytes, p); }
  std::unique_ptr<Queue> make_queue(bool timed) override {
    auto queue = real_.make_queue(timed);
    return make_ ? make_(std::move(queue)) : std::move(queue);
  }
  std::unique_ptr<Queue> make_bare_queue() override { return real_.make_bare_queue(); }
  std::unique_ptr<Program> build(const KernelSource& source) override {
    return real_.build(alter_ ? alter_(source) : source);
  }
  std::string share(const Buffer& buffer) override { return real_.share(buffer); }
  std::unique_ptr<Buffer> open_shared(const std::string& handle) override { return real_.open_shared(handle); }

 private:
  Device& real_;
  MakeQueue make_;
  AlterKernels alter_;
};

}  // namespace plumb::mutants
