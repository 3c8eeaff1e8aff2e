// Devices (accelerators or CPUs) as a runtime provides them: memory, queues, kernels. Benchmarks and transports use
// devices through this header only; each runtime has a folder beside it.
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

// Memory kind of a buffer. `automatic` ("default" to users): the runtime chooses.
enum class MemoryKind { automatic, host, svm, ddr, hbm, plram };

std::string to_string(MemoryKind kind);

struct Placement {
  MemoryKind kind = MemoryKind::automatic;
  std::optional<int> bank = {};  // bank of that kind; none = the runtime's choice
  bool shared = false;           // with other processes of this host, by Device::share() and open_shared()
  bool as_object = false;        // without an address: a sycl::buffer (--sycl-memory buffer)

  // For one of several parts of a benchmark's data: a separate bank, if the kind has banks and the user named
  // none.
  Placement in_bank(int part, int parts) const;
};

// "hbm:3" -> {hbm, 3}; throws UsageError.
Placement parse_placement(const std::string& text);
std::string to_string(const Placement& placement);

// Optional features of a device's kernels. channels: Intel's channels between kernels; pipes: OpenCL 2.0's.
enum class Feature { fp16, fp64, atomics64, channels, pipes };

std::string to_string(Feature feature);

struct DeviceInfo {
  int index = 0;    // among all devices of all runtimes, as numbered by --devices
  int ordinal = 0;  // among its runtime's devices; distinguishes identical devices (an emulator's)
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
  std::uint64_t local_bytes = 0;         // of one group's local memory
  std::uint64_t launch_local_bytes = 0;  // the same, given with a launch (KernelRange); 0 = the runtime cannot
  std::uint64_t cache_bytes = 0;         // total of the last-level caches; 0 = unknown
  unsigned largest_group = 1;            // work items
  std::size_t view_alignment = 64;       // bytes: alignment of a view passed to a kernel; a power of two
  std::vector<MemoryKind> memory_kinds;
  std::vector<Feature> features;

  bool has(Feature feature) const;
};

Json to_json(const DeviceInfo& info);

// That it stands in for hardware which is absent, so that its times are of none, as a sentence; "" for hardware.
std::string emulation_of(const DeviceInfo& info);

// An allocation in one memory kind of one device; owns its memory. Contents are undefined at first.
class Buffer {
 public:
  virtual ~Buffer() = default;
  std::size_t size() const { return size_; }
  const Placement& placement() const { return placement_; }
  // Address at which the host (and so MPI) may access the bytes without a transfer; null if there is none. Pinned
  // memory for `host` buffers.
  virtual std::byte* host_pointer() const { return nullptr; }
  // Device address for other libraries (an MPI that accepts device addresses, NCCL); null if the runtime has none.
  virtual std::byte* device_address() const { return nullptr; }

 protected:
  Buffer(std::size_t size, Placement placement) : size_(size), placement_(placement) {}

 private:
  std::size_t size_;
  Placement placement_;
};

// A part of a buffer. Does not own it.
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
  std::size_t local = 0;        // work items per group; 0 = the runtime's choice
  std::size_t local_bytes = 0;  // per group, in addition to the kernel's own local memory; runtime `cuda` only
};

// A row-major matrix whose tiles a device's copy engine moves to local memory; elements out of bounds read as zero.
// Rows of tiles are 128 bytes, swizzled by 128 bytes. Runtime `cuda` only, from compute capability 9.0.
struct TiledMatrix {
  BufferView view;  // starts at a multiple of 16 bytes
  std::size_t columns = 0, rows = 0;
  std::size_t row_bytes = 0;      // between rows; a multiple of 16
  std::size_t element_bytes = 0;  // 2, 4 or 8
  bool to_tf32 = false;           // 4-byte elements are float, rounded to 11 significant bits
  std::size_t tile_rows = 0;      // at most 256
};

// A kernel's argument: a buffer, a view aligned to the device's view_alignment, tiles of a view, or a value.
using KernelArgument = std::variant<const Buffer*, BufferView, TiledMatrix, std::int32_t, std::uint32_t, std::int64_t,
                                    std::uint64_t, float, double>;

// Host address of a buffer or view passed to a native kernel. Throws std::bad_variant_access for a value.
std::byte* host_pointer(const KernelArgument& argument);

class Kernel {
 public:
  virtual ~Kernel() = default;
  // Sets all arguments, in the order of the kernel's signature; kept until set again.
  virtual void set(const std::vector<KernelArgument>& arguments) = 0;
  // Sets one argument, at a cost low enough for loops of launches.
  virtual void set(std::size_t index, const KernelArgument& argument) = 0;
};

// A stream from one kernel to another of the same program, or to or from a file (a named pipe, by its absolute path).
// Ends within the program are "KERNEL.PARAMETER", as in `stream_connect` of AMD's linker.
struct StreamLink {
  std::string from, to;
  std::size_t depth = 2;  // elements that fit, between kernels
};

// Source of kernels: OpenCL C for runtimes that compile, HLS C++ for `hls`, functions of the same names for `native`.
struct KernelSource {
  std::string name;          // file name, for messages
  std::string opencl;        // OpenCL C
  std::string options = {};  // build options ("-DBLOCK=8")
  // native form: called once per launch with the arguments (buffers as host pointers) and the range
  using NativeKernel = std::function<void(std::span<const KernelArgument>, const KernelRange&)>;
  std::vector<std::pair<std::string, NativeKernel>> native = {};
  std::vector<unsigned char> binary = {};  // replaces `opencl`: a vendor's compiled binary (bitstream)
  bool is_cuda = false;                    // `opencl` holds CUDA C++, for runtime `cuda` only
  std::string hls = {};                    // HLS C++ (Vitis HLS): kernels are functions with C linkage
  std::vector<StreamLink> streams = {};    // of `hls`
  bool by_sycl = false;                    // `opencl` is compiled by SYCL's run-time compiler; runtime `sycl` only
};

class Program {
 public:
  virtual ~Program() = default;
  virtual std::unique_ptr<Kernel> kernel(const std::string& name) = 0;
  virtual std::vector<std::string> kernel_names() const = 0;
  // As KernelSource::binary takes it; throws Unsupported if the runtime has none.
  virtual std::vector<unsigned char> binary() const { throw Unsupported("this runtime has no binaries of kernels"); }
};

// Start and end of commands, in seconds of the device's clock.
struct DeviceTime {
  double started = 0, ended = 0;
};

// An in-order queue of commands. enqueue_* return at once; finish() waits for completion. Views passed to
// enqueue_read/write must stay alive, and the host memory unchanged, until then.
class Queue {
 public:
  virtual ~Queue() = default;
  virtual void enqueue_read(const BufferView& from, std::byte* to) = 0;
  virtual void enqueue_write(const std::byte* from, const BufferView& to) = 0;
  virtual void enqueue_copy(const BufferView& from, const BufferView& to) = 0;
  virtual void enqueue(Kernel& kernel, const KernelRange& range) = 0;
  // Enqueues a library's call, which receives the runtime's queue.
  virtual void enqueue_call(const std::function<void(Queue& own)>& call) { call(*this); }
  virtual void finish() = 0;
  // Returns whether all commands are complete, without waiting. Submits enqueued commands.
  virtual bool finished() = 0;
  // Later commands start after those already in `earlier` (same device) are complete. The host waits only if the
  // runtime cannot order two queues.
  virtual void follow(Queue& earlier) { earlier.finish(); }
  // Time span of the commands awaited by the latest finish(): `started` of the first, `ended` of the last. All queues
  // of a device share one clock. None if the runtime cannot tell.
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
  // Throws Unsupported if the device lacks the memory kind (or cannot share it on request), Error if memory is
  // exhausted.
  virtual std::unique_ptr<Buffer> allocate(std::size_t bytes, const Placement& placement) = 0;
  // Handle by which another process of this host opens the same bytes on its own device of the same runtime. It must be
  // opened while the buffer exists and destroyed before the buffer.
  virtual std::string share(const Buffer& buffer);
  virtual std::unique_ptr<Buffer> open_shared(const std::string& handle);
  // timed: record the commands' device times (slower on some runtimes)
  virtual std::unique_ptr<Queue> make_queue(bool timed = false) = 0;
  // A queue whose waiting kernels start before those of other queues, if the runtime has priorities.
  virtual std::unique_ptr<Queue> make_urgent_queue() { return make_queue(); }
  // A queue of plain runtime calls, the reference for a run's parts: it shares no code with make_queue(), so a defect
  // there does not affect the reference.
  virtual std::unique_ptr<Queue> make_bare_queue() { return make_queue(); }
  // Throws Error with the build log if the source does not compile.
  virtual std::unique_ptr<Program> build(const KernelSource& source) = 0;
};

// One interface to devices. infos() may load drivers; open() takes an entry of infos().
class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual std::string name() const = 0;
  // Empty without devices; then why_none() gives the reason and a remedy.
  virtual std::vector<DeviceInfo> infos() = 0;
  virtual std::string why_none() const = 0;
  virtual std::unique_ptr<Device> open(const DeviceInfo& info) = 0;
};

using RuntimeFactory = std::function<std::unique_ptr<Runtime>()>;

// Host memory for transfers at full speed with any device: pinned if the runtime supports it.
inline std::unique_ptr<Buffer> allocate_host(Device& device, std::size_t bytes, bool shared = false) {
  return device.allocate(bytes, {MemoryKind::host, {}, shared});
}

}  // namespace plumb
