// The devices that this process has opened, their memory, and what copies between it and the host.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "interpose/memory/seat.hpp"

namespace plumb::interpose {

class OpenDevice;

// Pinned memory of the host and a queue, lent by a device; given back when this ends, with no command under way.
class Staging {
 public:
  Staging() = default;
  Staging(std::shared_ptr<OpenDevice> device, std::unique_ptr<Buffer> bytes, std::unique_ptr<Queue> queue)
      : device_(std::move(device)), bytes_(std::move(bytes)), queue_(std::move(queue)) {}
  ~Staging();
  Staging(Staging&&) = default;
  Staging& operator=(Staging&&) = delete;
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // What the latest user left in it is still there.
  std::byte* bytes() const { return bytes_->host_pointer(); }
  Queue& queue() const { return *queue_; }

 private:
  std::shared_ptr<OpenDevice> device_;
  std::unique_ptr<Buffer> bytes_;
  std::unique_ptr<Queue> queue_;
};

// One device for all threads: a queue belongs to one thread at a time, and so does a piece of staging memory.
class OpenDevice : public std::enable_shared_from_this<OpenDevice> {
 public:
  explicit OpenDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}

  const DeviceInfo& info() const { return device_->info(); }
  std::unique_ptr<Buffer> allocate(std::size_t bytes, const Placement& placement);
  // At least so many bytes. Throws Error when the host has not enough.
  Staging stage(std::size_t bytes);
  // Memory of at least so many bytes that other processes of the host may open, until this one ends: it is kept when it
  // is given back, because nobody tells when they have closed it. Throws Unsupported where a device does not share.
  std::unique_ptr<Buffer> allocate_shared(std::size_t bytes);
  void keep_shared(std::unique_ptr<Buffer> buffer);
  // What another process allocated so; opened once.
  Buffer& open_shared(const std::string& handle);
  // What work(device) returns, while no other thread uses the device.
  template <class Work>
  auto alone(Work work) {
    const std::scoped_lock lock(mutex_);
    return work(*device_);
  }

 private:
  friend class Staging;
  void give_back(std::unique_ptr<Buffer> bytes, std::unique_ptr<Queue> queue);

  std::unique_ptr<Device> device_;
  std::mutex mutex_;
  std::array<std::vector<std::unique_ptr<Buffer>>, 64> idle_;  // idle_[n]: of 2^n bytes
  std::size_t idle_bytes_ = 0;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::multimap<std::size_t, std::unique_ptr<Buffer>> shared_;  // given back, by size
  std::map<std::string, std::unique_ptr<Buffer>> opened_;       // by handle
};

// What lies behind an address.
struct DeviceMemory {
  DeviceMemory() = default;
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Memory of `device` that other processes may open.
  void share(std::size_t bytes);

  std::shared_ptr<OpenDevice> device;
  std::unique_ptr<Buffer> buffer;
  std::string handle = {};  // by which they do; empty where they may not
};

// Where a program wants its memory; "" = as PLUMB_MPI_RUNTIME, PLUMB_MPI_DEVICE and PLUMB_MPI_MEMORY say.
struct MemoryWish {
  std::string runtime = {};
  std::string device = {};
  std::string memory = {};
};

// The device of a runtime and a name (or a part of it) that this rank gets, opened at its first use. Throws UsageError
// when there is none.
std::shared_ptr<OpenDevice> open_device(const std::string& runtime, const std::string& name, const Seat& seat);

// Memory of the device that is wished for, which is opened at its first use; `shared`: other processes may open it,
// where it is of kind `default`. Throws UsageError naming the devices of this machine, Error when there is not enough.
std::shared_ptr<DeviceMemory> allocate_memory(const MemoryWish& wish, const Seat& seat, std::size_t bytes, bool shared);

}  // namespace plumb::interpose
