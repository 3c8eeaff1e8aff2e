// The devices that this process has opened, their memory, and staging memory for copies to and from the host.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "interpose/memory/seat.hpp"
#include "transport/idle.hpp"

namespace plumb::interpose {

class OpenDevice;

// Pinned memory of the host and a queue, on loan from a device until destruction; no command may be under way then.
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

  // Uninitialised: holds data of its previous use.
  std::byte* bytes() const { return bytes_->host_pointer(); }
  Queue& queue() const { return *queue_; }

 private:
  std::shared_ptr<OpenDevice> device_;
  std::unique_ptr<Buffer> bytes_;
  std::unique_ptr<Queue> queue_;
};

// One device for all threads: a queue and a piece of staging memory belong to one thread at a time.
class OpenDevice : public std::enable_shared_from_this<OpenDevice> {
 public:
  explicit OpenDevice(std::unique_ptr<Device> device)
      : device_(std::move(device)), shares_cores_(has_threads_here(device_->info())) {}

  const DeviceInfo& info() const { return device_->info(); }
  // Whether its threads need the cores of this process.
  bool shares_cores() const { return shares_cores_; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes, const Placement& placement);
  // In the language of PLUMB_MPI_KERNEL_LANGUAGE (opencl, sycl).
  std::unique_ptr<Program> build(KernelSource source);
  // At least `bytes` bytes. Throws Error when the host's memory is exhausted.
  Staging stage(std::size_t bytes);
  // Memory of at least `bytes` bytes that other processes of the host may open. It is kept for reuse until this process
  // ends, because they do not report when they have closed it. Throws Unsupported if the device cannot share memory.
  std::unique_ptr<Buffer> allocate_shared(std::size_t bytes);
  void keep_shared(std::unique_ptr<Buffer> buffer);
  // Shared memory of another process; opened once for each handle.
  Buffer& open_shared(const std::string& handle);
  // Returns work(device), while no other thread uses the device.
  template <class Work>
  auto alone(Work work) {
    const std::scoped_lock lock(mutex_);
    return work(*device_);
  }

 private:
  friend class Staging;
  void give_back(std::unique_ptr<Buffer> bytes, std::unique_ptr<Queue> queue);

  std::unique_ptr<Device> device_;
  bool shares_cores_;
  std::mutex mutex_;
  std::array<std::vector<std::unique_ptr<Buffer>>, 64> idle_;  // idle_[n]: of 2^n bytes
  std::size_t idle_bytes_ = 0;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::multimap<std::size_t, std::unique_ptr<Buffer>> shared_;  // returned for reuse, by size
  std::map<std::string, std::unique_ptr<Buffer>> opened_;       // by handle
};

// The memory behind an address.
struct DeviceMemory {
  DeviceMemory() = default;
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Allocates memory of `device` that other processes may open.
  void share(std::size_t bytes);

  std::shared_ptr<OpenDevice> device;
  std::unique_ptr<Buffer> buffer;
  std::string handle = {};  // for open_shared(); empty if not shared
};

// The requested place of memory; "": taken from PLUMB_MPI_RUNTIME, PLUMB_MPI_DEVICE and PLUMB_MPI_MEMORY.
struct MemoryChoice {
  std::string runtime = {};
  std::string device = {};
  std::string memory = {};
};

// The device of this rank for a runtime and a name (or part of one), opened at first use. Throws UsageError if there is
// none.
std::shared_ptr<OpenDevice> open_device(const std::string& runtime, const std::string& name, const Seat& seat);

// Memory of the requested device, which is opened at first use. `shared`: other processes may open it, if it is of kind
// `default`. Throws UsageError with the devices of this machine, Error when memory is exhausted.
std::shared_ptr<DeviceMemory> allocate_memory(const MemoryChoice& choice, const Seat& seat, std::size_t bytes,
                                              bool shared);

}  // namespace plumb::interpose
