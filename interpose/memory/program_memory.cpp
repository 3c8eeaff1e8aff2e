#include "interpose/memory/program_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <shared_mutex>

#include "interpose/memory/registry.hpp"

namespace plumb::interpose {

std::atomic<bool> ever_registered = false;

namespace {

struct Access {
  plumb_mpi_access calls;
  void* state;
  bool owns(const void* address) const { return calls.owns(state, address) != 0; }
};

void check(const char* failure, const char* action) {
  if (failure != nullptr) [[unlikely]]
    throw Error(fmt::format("could not {}: {}", action, failure));
}

// The program's memory, or the host's for staging.
class ProgramBuffer final : public Buffer {
 public:
  ProgramBuffer(std::size_t size, std::byte* memory) : Buffer(size, {}), memory_(memory) {}
  ProgramBuffer(std::size_t size, const Access& access) : Buffer(size, {MemoryKind::host}), owner_(&access) {
    void* memory = nullptr;
    check(access.calls.allocate_host(access.state, size, &memory), "allocate host memory");
    memory_ = static_cast<std::byte*>(memory);
  }
  ~ProgramBuffer() override {
    if (owner_ != nullptr) owner_->calls.free_host(owner_->state, memory_);
  }
  ProgramBuffer(const ProgramBuffer&) = delete;
  ProgramBuffer& operator=(const ProgramBuffer&) = delete;

  std::byte* host_pointer() const override { return owner_ != nullptr ? memory_ : nullptr; }
  std::byte* device_address() const override { return memory_; }

 private:
  std::byte* memory_ = nullptr;
  const Access* owner_ = nullptr;
};

class ProgramQueue final : public Queue {
 public:
  explicit ProgramQueue(const Access& access) : access_(access) {
    check(access_.calls.make_queue(access_.state, &queue_), "make a queue");
  }
  ~ProgramQueue() override { access_.calls.free_queue(access_.state, queue_); }
  ProgramQueue(const ProgramQueue&) = delete;
  ProgramQueue& operator=(const ProgramQueue&) = delete;

  void enqueue_read(const BufferView& from, std::byte* to) override { copy(to, from.device_address(), from.size); }
  void enqueue_write(const std::byte* from, const BufferView& to) override { copy(to.device_address(), from, to.size); }
  void enqueue_copy(const BufferView& from, const BufferView& to) override {
    copy(to.device_address(), from.device_address(), from.size);
  }
  void enqueue(Kernel&, const KernelRange&) override { throw Error("the program's own device has no kernels here"); }
  void finish() override { check(access_.calls.wait(queue_), "complete a copy"); }
  bool finished() override {
    int done = 0;
    check(access_.calls.finished(queue_, &done), "query a copy");
    return done != 0;
  }

 private:
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    check(access_.calls.copy(queue_, to, from, bytes), "copy");
  }

  const Access& access_;
  void* queue_ = nullptr;
};

class ProgramDevice final : public Device {
 public:
  explicit ProgramDevice(const Access& access) : access_(access) {
    info_.runtime = "program";
    info_.name = access.calls.device;
    info_.type = access.calls.on_host != 0 ? "cpu" : "accelerator";
  }
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes, const Placement& placement) override {
    if (placement.kind != MemoryKind::host || placement.shared)
      throw Unsupported(fmt::format("memory of {} is the program's own", info_.name));
    return std::make_unique<ProgramBuffer>(bytes, access_);
  }
  std::unique_ptr<Queue> make_queue(bool) override { return std::make_unique<ProgramQueue>(access_); }
  std::unique_ptr<Program> build(const KernelSource& source) override {
    throw Unsupported(fmt::format("{} does not run on {}, which is the program's own", source.name, info_.name));
  }

 private:
  const Access& access_;
  DeviceInfo info_;
};

struct ProgramDevices {
  std::shared_mutex mutex;
  std::vector<std::pair<std::unique_ptr<Access>, std::shared_ptr<OpenDevice>>> all;

  std::shared_ptr<OpenDevice> open(const plumb_mpi_access& calls, void* state) {
    const std::scoped_lock lock(mutex);
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first->state == state; });
    if (found != all.end()) return found->second;
    auto access = std::make_unique<Access>(Access{calls, state});
    auto device = std::make_shared<OpenDevice>(std::make_unique<ProgramDevice>(*access));
    all.emplace_back(std::move(access), device);
    return device;
  }
  bool owns(const void* address) {
    const std::shared_lock lock(mutex);
    return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.first->owns(address); });
  }
};

// Never destroyed: the program's interface may end before.
ProgramDevices& devices() {
  static ProgramDevices& only = *std::make_unique<ProgramDevices>().release();
  return only;
}

}  // namespace

std::shared_ptr<DeviceMemory> program_memory(const plumb_mpi_access& access, void* state, void* pointer,
                                             std::size_t bytes) {
  auto* const memory = static_cast<std::byte*>(pointer);
  const Access asked{access, state};
  if (!asked.owns(memory))
    throw Error(
        fmt::format("{} is not device memory of {} in the context of this queue", fmt::ptr(pointer), access.device));
  if (bytes > 0 && !asked.owns(memory + bytes - 1))
    throw Error(fmt::format("{} bytes at {} exceed the program's allocation", bytes, fmt::ptr(pointer)));
  auto made = std::make_shared<DeviceMemory>();
  made->device = devices().open(access, state);
  made->buffer = std::make_unique<ProgramBuffer>(bytes, memory);
  ever_registered.store(true, std::memory_order_relaxed);
  return made;
}

bool is_in_program_memory(const void* address) {
  return buffers().has_adopted(address) || devices().owns(address);
}

void check_program_memory(const void* address) {
  const bool registered = buffers().has_adopted(address), there = devices().owns(address);
  if (there && !registered)
    throw Error(
        fmt::format("invalid device address {}: the program's device memory there is not registered; "
                    "plumb_mpi_register makes it an argument of MPI",
                    fmt::ptr(address)));
  if (registered && !there)
    throw Error(fmt::format(
        "invalid device address {}: the memory registered there was freed; plumb_mpi_unregister must come before",
        fmt::ptr(address)));
}

}  // namespace plumb::interpose
