// One accelerator (or CPU) as a runtime shows it: its memory, its queues, its kernels. Benchmarks and transports know
// devices only through this header; each runtime has a folder beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/error.hpp"
#include "core/json_fwd.hpp"
#include "core/registry.hpp"

namespace plumb {

// Where a buffer lies. `automatic` ("default" to users) is the runtime's own choice.
enum class MemoryKind { automatic, host, svm, ddr, hbm, plram };

std::string to_string(MemoryKind kind);

struct Placement {
  MemoryKind kind = MemoryKind::automatic;
  std::optional<int> bank = {};  // which of the kind's banks; none = the runtime's choice
  bool shared = false;           // with other processes of this host, by Device::share() and open_shared()

  // For one of several parts of a benchmark's data: a bank of its own, where the kind has banks and the user named
  // none.
  Placement in_bank(int part, int parts) const;
};

// "hbm:3" -> {hbm, 3}; throws UsageError.
Placement parse_placement(const std::string& text);
std::string to_string(const Placement& placement);

// What kernels may use on a device. channels: Intel's channels between kernels; pipes: OpenCL 2.0's.
enum class Feature { fp16, fp64, atomics64, channels, pipes };

std::string to_string(Feature feature);

struct DeviceInfo {
  int index = 0;    // among all devices of all runtimes, as --devices numbers them
  int ordinal = 0;  // among its runtime's devices: twins (an emulator's) differ in nothing else
  std::string runtime;
  std::string platform;
  std::string name;
  std::string type;  // cpu, gpu, accelerator, native
  std::string vendor;
  std::string version;  // of the programming interface
  std::string driver;
  unsigned compute_units = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t largest_buffer_bytes = 0;
  std::uint64_t local_bytes = 0;    // of one group's local memory
  std::uint64_t cache_bytes = 0;    // of the last caches before its memory, all together; 0 = unknown
  unsigned largest_group = 1;       // work items
  std::size_t view_alignment = 64;  // bytes: where a view that a kernel is given may begin; a power of two
  std::vector<MemoryKind> memory_kinds;
  std::vector<Feature> features;

  bool has(Feature feature) const;
};

Json to_json(const DeviceInfo& info);

// A run of bytes in one memory kind of one device. Contents are undefined at first. Owns its memory.
class Buffer {
 public:
  virtual ~Buffer() = default;
  std::size_t size() const { return size_; }
  const Placement& placement() const { return placement_; }
  // Where the host (and so MPI) may read and write the bytes without a transfer; null when it may not. For `host`
  // buffers this is pinned memory.
  virtual std::byte* host_pointer() const { return nullptr; }
  // By which other libraries know the device's memory (an MPI that takes such addresses, NCCL); null where the runtime
  // gives none.
  virtual std::byte* device_address() const { return nullptr; }

 protected:
  Buffer(std::size_t size, Placement placement) : size_(size), placement_(placement) {}

 private:
  std::size_t size_;
  Placement placement_;
};

// A part of a buffer. Does not own.
struct BufferView {
  Buffer* buffer = nullptr;
  std::size_t offset = 0;
  std::size_t size = 0;

  std::byte* host_pointer() const {
    std::byte* base = buffer->host_pointer();
    return base == nullptr ? nullptr : base + offset;
  }
  std::byte* device_address() const {
    std::byte* base = buffer->device_address();
    return base == nullptr ? nullptr : base + offset;
  }
};

inline BufferView whole(Buffer& buffer) {
  return {&buffer, 0, buffer.size()};
}

struct KernelRange {
  std::size_t global = 1;       // work items
  std::size_t local = 0;        // work items of a group; 0 = the runtime's choice
  std::size_t local_bytes = 0;  // of a group's local memory beside what the kernel declares; runtime `cuda` alone
};

// A matrix, row by row, of which a device's copy engine brings tiles to local memory; what lies outside comes as zeros.
// Tiles' rows are 128 bytes, swizzled by 128 bytes. Runtime `cuda` alone, from compute capability 9.0 on.
struct TiledMatrix {
  BufferView view;  // begins at a multiple of 16 bytes
  std::size_t columns = 0, rows = 0;
  std::size_t row_bytes = 0;      // from row to row; a multiple of 16
  std::size_t element_bytes = 0;  // 2, 4 or 8
  bool to_tf32 = false;           // elements of 4 bytes are float, rounded to 11 significant bits on the way
  std::size_t tile_rows = 0;      // at most 256
};

// A kernel's argument: a buffer, the part of one that begins at a multiple of the device's view_alignment, tiles of
// one, or a value.
using KernelArgument = std::variant<const Buffer*, BufferView, TiledMatrix, std::int32_t, std::uint32_t, std::int64_t,
                                    std::uint64_t, float, double>;

// Where a native kernel finds the buffer, or the view, that it was given. Throws std::bad_variant_access for a value.
std::byte* host_pointer(const KernelArgument& argument);

class Kernel {
 public:
  virtual ~Kernel() = default;
  // Arguments in the order of the kernel's signature; kept until set again.
  virtual void set(const std::vector<KernelArgument>& arguments) = 0;
  // One of them anew; of as few calls as a loop of launches can afford.
  virtual void set(std::size_t index, const KernelArgument& argument) = 0;
};

// What a kernel is made of: OpenCL C for runtimes that compile, functions for `native`, under the same names.
struct KernelSource {
  std::string name;          // of the file, for messages
  std::string opencl;        // OpenCL C
  std::string options = {};  // build options ("-DBLOCK=8")
  // native form: called once a launch with the arguments (buffers as host pointers) and the range
  using NativeKernel = std::function<void(std::span<const KernelArgument>, const KernelRange&)>;
  std::vector<std::pair<std::string, NativeKernel>> native = {};
  std::vector<unsigned char> binary = {};  // instead of `opencl`: what a vendor's compiler made of it (a bitstream)
  bool is_cuda = false;                    // `opencl` is CUDA C++ instead, for runtime `cuda` alone
};

class Program {
 public:
  virtual ~Program() = default;
  virtual std::unique_ptr<Kernel> kernel(const std::string& name) = 0;
  virtual std::vector<std::string> kernel_names() const = 0;
};

// When commands ran, in seconds of the device's own clock.
struct DeviceTime {
  double started = 0, ended = 0;
};

// An in-order queue of commands. enqueue_* return at once; everything enqueued is complete after finish().
// Views given to enqueue_read/write must stay alive, and host memory untouched, until then.
class Queue {
 public:
  virtual ~Queue() = default;
  virtual void enqueue_read(const BufferView& from, std::byte* to) = 0;
  virtual void enqueue_write(const std::byte* from, const BufferView& to) = 0;
  virtual void enqueue_copy(const BufferView& from, const BufferView& to) = 0;
  virtual void enqueue(Kernel& kernel, const KernelRange& range) = 0;
  // A library's call as a command: it is given the queue that the runtime made, and enqueues there.
  virtual void enqueue_call(const std::function<void(Queue& own)>& call) { call(*this); }
  virtual void finish() = 0;
  // True when everything enqueued is complete; does not wait. Starts what was enqueued.
  virtual bool finished() = 0;
  // What is enqueued from now on begins when `earlier` has done what it was given so far; the host waits only where
  // the runtime cannot order two queues. Both are of one device.
  virtual void follow(Queue& earlier) { earlier.finish(); }
  // From the first to the last command of those that the latest finish() awaited: `started` of the first, `ended` of
  // the last. All queues of a device share one clock. None where the runtime does not tell.
  virtual std::optional<DeviceTime> span() const { return std::nullopt; }

  void read(const BufferView& from, std::byte* to) {
    enqueue_read(from, to);
    finish();
  }
  void write(const std::byte* from, const BufferView& to) {
    enqueue_write(from, to);
    finish();
  }
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  // Throws Unsupported when the device has no such memory (or cannot share it where asked to), Error when there is not
  // enough of it.
  virtual std::unique_ptr<Buffer> allocate(std::size_t bytes, const Placement& placement) = 0;
  // What another process of this host gives its own device of the same runtime to open the very bytes of a shared
  // buffer. It must be opened while the buffer lives, and closed (destroyed) before the buffer is.
  virtual std::string share(const Buffer& buffer);
  virtual std::unique_ptr<Buffer> open_shared(const std::string& handle);
  // timed: ask the device for the commands' times (costs a little on some runtimes).
  virtual std::unique_ptr<Queue> make_queue(bool timed = false) = 0;
  // A queue of the runtime's own calls and nothing beside them, for the parts that a run is judged by: it shares no
  // code with the queues of make_queue(), so that what slows those down does not slow what they are compared with.
  virtual std::unique_ptr<Queue> make_bare_queue() { return make_queue(); }
  // Throws Error with the build log when the source does not compile.
  virtual std::unique_ptr<Program> build(const KernelSource& source) = 0;
};

// One way to drive devices. infos() may load drivers; open() takes an entry of infos().
class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual std::string name() const = 0;
  // Empty when there is none; then why_none() says why and what to do.
  virtual std::vector<DeviceInfo> infos() = 0;
  virtual std::string why_none() const = 0;
  virtual std::unique_ptr<Device> open(const DeviceInfo& info) = 0;
};

using RuntimeFactory = std::function<std::unique_ptr<Runtime>()>;

// Host memory that any device can be read into at full speed: pinned where the runtime can pin.
inline std::unique_ptr<Buffer> allocate_host(Device& device, std::size_t bytes, bool shared = false) {
  return device.allocate(bytes, {MemoryKind::host, {}, shared});
}

}  // namespace plumb
