#include "interpose/memory/devices.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "device/select.hpp"

namespace plumb::interpose {

namespace {

// Idle staging memory above this limit is freed.
constexpr std::size_t most_idle_bytes = std::size_t{512} << 20;
constexpr std::size_t least_bytes = 4096;
// Shared memory up to this size is allocated in powers of two, so that freed memory can be reused.
constexpr std::size_t most_rounded = std::size_t{64} << 20;

std::string chosen(const std::string& argument, const char* variable) {
  if (!argument.empty()) return argument;
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

// Replaces the options of the engine's programs in a message by the environment variables of this library.
std::string with_variables(std::string text) {
  for (const auto& [option, variable] :
       {std::pair{"--device", "PLUMB_MPI_DEVICE"}, std::pair{"--runtime", "PLUMB_MPI_RUNTIME"}})
    for (std::size_t at = text.find(option); at != std::string::npos; at = text.find(option, at + 1))
      text.replace(at, std::string_view(option).size(), variable);
  return text;
}

class Catalogue {
 public:
  std::shared_ptr<OpenDevice> open(const DeviceWish& choice, const Seat& seat) {
    const std::scoped_lock lock(mutex_);
    const DeviceInfo info = [&] {
      try {
        return catalogue_.choose(choice, seat.rank, seat.ranks, seat.local_rank);
      } catch (const UsageError& error) {
        throw UsageError(with_variables(error.what()));
      }
    }();
    std::shared_ptr<OpenDevice>& device = open_[info.index];
    if (!device) device = std::make_shared<OpenDevice>(catalogue_.open(info));
    return device;
  }

 private:
  std::mutex mutex_;
  DeviceCatalogue catalogue_;
  std::map<int, std::shared_ptr<OpenDevice>> open_;
};

// Never destroyed: a driver may be unloaded before the objects of this library are destroyed.
Catalogue& catalogue() {
  static Catalogue& only = *std::make_unique<Catalogue>().release();
  return only;
}

}  // namespace

Staging::~Staging() {
  if (device_) device_->give_back(std::move(bytes_), std::move(queue_));
}

std::unique_ptr<Buffer> OpenDevice::allocate(std::size_t bytes, const Placement& placement) {
  return alone([&](Device& device) { return device.allocate(bytes, placement); });
}

std::unique_ptr<Program> OpenDevice::build(KernelSource source) {
  const std::string language = chosen("", "PLUMB_MPI_KERNEL_LANGUAGE");
  if (language != "" && language != "opencl" && language != "sycl")
    throw UsageError("invalid value '" + language + "' for PLUMB_MPI_KERNEL_LANGUAGE (choose from opencl, sycl)");
  source.by_sycl = language == "sycl";
  if (source.by_sycl && info().runtime != "sycl")
    throw UsageError("PLUMB_MPI_KERNEL_LANGUAGE=sycl is of runtime sycl, not " + info().runtime);
  return alone([&](Device& device) { return device.build(source); });
}

Staging OpenDevice::stage(std::size_t bytes) {
  const std::size_t size = std::bit_ceil(std::max(bytes, least_bytes));
  auto& idle = idle_[static_cast<std::size_t>(std::countr_zero(size))];
  const std::scoped_lock lock(mutex_);
  if (queues_.empty()) queues_.push_back(device_->make_queue());
  if (idle.empty()) {
    idle.push_back(allocate_host(*device_, size));
    idle_bytes_ += size;
  }
  Staging staging(shared_from_this(), std::move(idle.back()), std::move(queues_.back()));
  idle.pop_back();
  queues_.pop_back();
  idle_bytes_ -= size;
  return staging;
}

void OpenDevice::give_back(std::unique_ptr<Buffer> bytes, std::unique_ptr<Queue> queue) {
  const std::scoped_lock lock(mutex_);
  queues_.push_back(std::move(queue));
  if (idle_bytes_ + bytes->size() > most_idle_bytes) return;
  idle_bytes_ += bytes->size();
  idle_[static_cast<std::size_t>(std::countr_zero(bytes->size()))].push_back(std::move(bytes));
}

std::unique_ptr<Buffer> OpenDevice::allocate_shared(std::size_t bytes) {
  const std::size_t size = bytes > most_rounded ? bytes : std::bit_ceil(std::max(bytes, least_bytes));
  const std::scoped_lock lock(mutex_);
  if (const auto found = shared_.find(size); found != shared_.end()) {
    std::unique_ptr<Buffer> buffer = std::move(found->second);
    shared_.erase(found);
    return buffer;
  }
  return device_->allocate(size, {MemoryKind::automatic, {}, true});
}

void OpenDevice::keep_shared(std::unique_ptr<Buffer> buffer) {
  const std::scoped_lock lock(mutex_);
  shared_.emplace(buffer->size(), std::move(buffer));
}

Buffer& OpenDevice::open_shared(const std::string& handle) {
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<Buffer>& buffer = opened_[handle];
  if (!buffer) buffer = device_->open_shared(handle);
  return *buffer;
}

DeviceMemory::~DeviceMemory() {
  if (!device) return;
  if (handle.empty())
    device->alone([&](Device&) { buffer.reset(); });
  else
    device->keep_shared(std::move(buffer));
}

void DeviceMemory::share(std::size_t bytes) {
  buffer = device->allocate_shared(bytes);
  handle = device->alone([&](Device& its) { return its.share(*buffer); });
}

std::shared_ptr<OpenDevice> open_device(const std::string& runtime, const std::string& name, const Seat& seat) {
  DeviceWish choice;
  choice.runtime = runtime;
  choice.device = name;
  return catalogue().open(choice, seat);
}

std::shared_ptr<DeviceMemory> allocate_memory(const MemoryChoice& choice, const Seat& seat, std::size_t bytes,
                                              bool shared) {
  DeviceWish device;
  device.runtime = chosen(choice.runtime, "PLUMB_MPI_RUNTIME");
  device.device = chosen(choice.device, "PLUMB_MPI_DEVICE");
  const std::string kind = chosen(choice.memory, "PLUMB_MPI_MEMORY");
  const Placement placement = kind.empty() ? Placement{} : parse_placement(kind);
  auto memory = std::make_shared<DeviceMemory>();
  memory->device = catalogue().open(device, seat);
  if (shared && placement.kind == MemoryKind::automatic)
    memory->share(bytes);
  else
    memory->buffer = memory->device->allocate(bytes, placement);
  return memory;
}

}  // namespace plumb::interpose
