// libplumb-sycl.so: SYCL behind interface.hpp. Compiled by `plumb setup intel-sycl` with an ordinary C++ compiler: it
// has no device code, and kernels are built from text at run time. C++17, the standard of SYCL's headers.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sycl/sycl.hpp>
#include <utility>
#include <vector>

#include "interface.hpp"
#include "libraries.hpp"

namespace plumb::sycl_plugin {

using ::sycl::aspect;
using ::sycl::backend;
namespace info = ::sycl::info;

struct ContextHandle {
  ::sycl::device device;
  ::sycl::context context;
  cl_program copying = nullptr;  // copy_text, where copies are by kernels
  ~ContextHandle() {
    if (copying != nullptr) clReleaseProgram(copying);
  }
};

// The argument of copy_text's kernel: copies none of which needs another's bytes.
struct Copies {
  static constexpr std::uint32_t most = 8;
  std::uint64_t from[most], to[most], bytes[most];
  std::uint32_t count, pieces;  // of each copy every work item has a piece
};

struct QueueHandle {
  ::sycl::queue queue;
  std::optional<::sycl::kernel> copy;  // of the context's `copying`
  std::size_t copiers = 1;             // the most work items of `copy`
  std::size_t long_from = 0;           // bytes of a copy that does not wait for others
  Copies waiting{};                    // to be started together
  ::sycl::event first, last;
  bool has_first = false, has_last = false;
  std::exception_ptr asynchronous;  // reported by SYCL during a wait
};

namespace experimental = ::sycl::ext::oneapi::experimental;
using Executable = ::sycl::kernel_bundle<::sycl::bundle_state::executable>;

struct ProgramHandle {
  ::sycl::context context;
  cl_program program;                // null if `bundle`
  std::optional<Executable> bundle;  // of the run-time compiler
  std::string names;
  ~ProgramHandle() {
    if (program != nullptr) clReleaseProgram(program);
  }
};

struct ObjectHandle {
  ::sycl::buffer<unsigned char> buffer;
  std::map<std::pair<std::size_t, std::size_t>, std::unique_ptr<ObjectHandle>> parts;  // by offset and bytes
};

struct TransformHandle {
  std::unique_ptr<Transform> its;
};

struct KernelHandle {
  ::sycl::kernel kernel;
  cl_kernel native;  // owned by `kernel`
  bool by_sycl;
};

namespace {

struct Failure {
  std::string text, log;
  long code = 0;
};
thread_local Failure failure;

// An OpenCL call of the plug-in that failed.
struct OpenclError {
  const char* call;
  cl_int code;
};

void check(cl_int code, const char* call) {
  if (code != CL_SUCCESS) throw OpenclError{call, code};
}

// Returns work(), or `failed` with the failure stored.
template <class Work, class Result>
Result guarded(Result failed, Work work) noexcept {
  try {
    return work();
  } catch (const ::sycl::exception& error) {
    failure.text = error.what();
    failure.code = error.code().value();
  } catch (const OpenclError& error) {
    failure.text = std::string(error.call) + " failed";
    failure.code = error.code;
  } catch (const std::exception& error) {
    failure.text = error.what();
    failure.code = -1;
  }
  return failed;
}

template <std::size_t size>
void put(char (&into)[size], const std::string& text) {
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(into, text.data(), length);
  into[length] = 0;
}

// PLUMBLINE_SYCL_PARTS (--sub-devices): equal parts of each CPU, each shown as a device of its own; 1 = the whole.
std::uint32_t wished_parts() {
  const char* const text = std::getenv("PLUMBLINE_SYCL_PARTS");
  if (text == nullptr) return 1;
  const std::string digits = text;
  if (digits.empty() || digits.size() > 6 || digits.find_first_not_of("0123456789") != std::string::npos ||
      std::stoul(digits) == 0)
    throw std::invalid_argument("PLUMBLINE_SYCL_PARTS must be an integer of at least 1, not \"" + digits + "\"");
  return static_cast<std::uint32_t>(std::stoul(digits));
}

std::vector<::sycl::device> parts_of(const ::sycl::device& device, std::uint32_t parts) {
  const std::uint32_t units = device.get_info<info::device::max_compute_units>();
  if (parts > units)
    throw std::invalid_argument("--sub-devices (PLUMBLINE_SYCL_PARTS) " + std::to_string(parts) + " exceeds the " +
                                std::to_string(units) + " compute units of " + device.get_info<info::device::name>());
  auto found = device.create_sub_devices<info::partition_property::partition_equally>(units / parts);
  found.resize(parts);  // the rest of an uneven division stays idle
  return found;
}

std::vector<::sycl::device> list_devices() {
  const std::uint32_t parts = wished_parts();
  std::vector<::sycl::device> all;
  for (const ::sycl::device& device : ::sycl::device::get_devices()) {
    const bool divided = parts > 1 && device.is_cpu();
    for (const ::sycl::device& one : divided ? parts_of(device, parts) : std::vector{device}) all.push_back(one);
  }
  return all;
}

// In SYCL's order, which does not change within a process.
const std::vector<::sycl::device>& all_devices() {
  static const std::vector<::sycl::device> all = list_devices();
  return all;
}

DeviceFacts describe(const ::sycl::device& device) {
  DeviceFacts facts{};
  put(facts.name, device.get_info<info::device::name>());
  put(facts.platform, device.get_platform().get_info<info::platform::name>());
  put(facts.vendor, device.get_info<info::device::vendor>());
  put(facts.version, device.get_info<info::device::version>());
  put(facts.driver, device.get_info<info::device::driver_version>());
  put(facts.backend, device.get_backend() == backend::opencl                  ? "OpenCL"
                     : device.get_backend() == backend::ext_oneapi_level_zero ? "Level Zero"
                                                                              : "another backend");
  facts.type = device.is_cpu() ? DeviceType::cpu : device.is_gpu() ? DeviceType::gpu : DeviceType::accelerator;
  facts.compute_units = device.get_info<info::device::max_compute_units>();
  facts.largest_group = static_cast<std::uint32_t>(device.get_info<info::device::max_work_group_size>());
  facts.alignment_bits = device.get_info<info::device::mem_base_addr_align>();
  facts.memory_bytes = device.get_info<info::device::global_mem_size>();
  facts.largest_buffer_bytes = device.get_info<info::device::max_mem_alloc_size>();
  facts.local_bytes = device.get_info<info::device::local_mem_size>();
  facts.cache_bytes = device.get_info<info::device::global_mem_cache_size>();
  facts.fp16 = device.has(aspect::fp16);
  facts.fp64 = device.has(aspect::fp64);
  facts.atomic64 = device.has(aspect::atomic64);
  facts.usm_device = device.has(aspect::usm_device_allocations);
  facts.usm_host = device.has(aspect::usm_host_allocations);
  facts.usm_shared = device.has(aspect::usm_shared_allocations);
  facts.usm_system = device.has(aspect::usm_system_allocations);
  return facts;
}

int devices(DeviceFacts* facts, int capacity) {
  return guarded(-1, [&] {
    const int count = static_cast<int>(all_devices().size());
    for (int i = 0; i < std::min(count, capacity); ++i) facts[i] = describe(all_devices()[static_cast<std::size_t>(i)]);
    return count;
  });
}

// Copies by kernels where these take any address of the host: Intel's CPU driver copies addresses of copy_from and
// more bytes in 6.7 us at least, awaited, a kernel in 4.1 us. Copies wait for each other to become one kernel: two of
// 4 KiB take 4.2 us so, by two kernels 6.6 us, by the driver 15 us.
constexpr std::size_t copy_from = 512;       // a shorter one alone the driver copies in 3 us
constexpr std::size_t piece_bytes = 262144;  // that a work item of its own copies

// Long copies do not wait for others, and go past the caches: 16 MiB take half the time. On AMD's processors 256 KiB
// are long, as another process reads them sooner than from this core's cache; on Intel's they take 1.4 times as long
// past the caches, and 1 MiB takes as long either way (docs/performance.md, SYCL).
std::size_t long_from(const ::sycl::device& device) {
  const bool amd = device.get_info<info::device::name>().find("AMD") != std::string::npos;
  return amd ? std::size_t{262144} : std::size_t{1} << 20;
}

const char* const copy_text = R"(
struct Copies { ulong from[MOST], to[MOST], bytes[MOST]; uint count, pieces; };
typedef ulong8 __attribute__((aligned(1))) Anywhere;

ulong copy_past_caches(global const uchar* restrict from, global uchar* restrict to, ulong begin, const ulong end) {
  for (; begin < end && (ulong)(to + begin) % sizeof(ulong8) != 0; ++begin) to[begin] = from[begin];
  for (; begin + sizeof(ulong8) <= end; begin += sizeof(ulong8))
    __builtin_nontemporal_store(*(global const Anywhere*)(from + begin), (global ulong8*)(to + begin));
  return begin;
}

__attribute__((reqd_work_group_size(1, 1, 1))) kernel void plumb_copy(const struct Copies its) {
  for (uint k = 0; k < its.count; ++k) {
    global const uchar* restrict from = (global const uchar*)its.from[k];
    global uchar* restrict to = (global uchar*)its.to[k];
    const ulong piece = (its.bytes[k] + its.pieces - 1) / its.pieces;
    const ulong end = min((get_global_id(0) + 1) * piece, its.bytes[k]);
    ulong begin = get_global_id(0) * piece;
    if (its.bytes[k] >= PAST_CACHES_FROM) begin = copy_past_caches(from, to, begin, end);
    for (; begin < end; ++begin) to[begin] = from[begin];
  }
})";

bool copies_by_kernels(const ::sycl::device& device) {
  return device.is_cpu() && device.get_backend() == backend::opencl && device.has(aspect::usm_system_allocations);
}

cl_program build_copying(const ContextHandle& of) {
  const cl_context context = ::sycl::get_native<backend::opencl>(of.context);
  const cl_device_id device = ::sycl::get_native<backend::opencl>(of.device);
  const char* text = copy_text;
  cl_int code = CL_SUCCESS;
  const cl_program made = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
  check(code, "clCreateProgramWithSource");
  const std::string options =
      "-DMOST=" + std::to_string(Copies::most) + " -DPAST_CACHES_FROM=" + std::to_string(long_from(of.device));
  code = clBuildProgram(made, 1, &device, options.c_str(), nullptr, nullptr);
  if (code != CL_SUCCESS) clReleaseProgram(made);
  check(code, "clBuildProgram of the kernel that copies");
  return made;
}

ContextHandle* open(int ordinal) {
  return guarded<>(static_cast<ContextHandle*>(nullptr), [&] {
    const ::sycl::device& device = all_devices().at(static_cast<std::size_t>(ordinal));
    std::unique_ptr<ContextHandle> made(new ContextHandle{device, ::sycl::context(device)});
    if (copies_by_kernels(device)) made->copying = build_copying(*made);
    return made.release();
  });
}

void close(ContextHandle* context) {
  delete context;
}

int opened(ContextHandle* context) {
  return guarded(-1, [&] {
    const auto found = std::find(all_devices().begin(), all_devices().end(), context->device);
    if (found == all_devices().end()) throw std::runtime_error("the open device is none of SYCL's");
    return static_cast<int>(found - all_devices().begin());
  });
}

void* allocate(ContextHandle* of, Memory kind, std::size_t bytes, std::size_t alignment) {
  return guarded(static_cast<void*>(nullptr), [&] {
    void* const memory =
        kind == Memory::device ? ::sycl::aligned_alloc_device(alignment, bytes, of->device, of->context)
        : kind == Memory::host ? ::sycl::aligned_alloc_host(alignment, bytes, of->context)
                               : ::sycl::aligned_alloc_shared(alignment, bytes, of->device, of->context);
    if (memory == nullptr) throw std::runtime_error("SYCL's allocation returned no memory");
    return memory;
  });
}

void release(ContextHandle* of, void* memory) {
  guarded(0, [&] {
    ::sycl::free(memory, of->context);
    return 0;
  });
}

int host_may_access(ContextHandle* of, const void* memory) {
  return guarded(-1,
                 [&] { return ::sycl::get_pointer_type(memory, of->context) == ::sycl::usm::alloc::device ? 0 : 1; });
}

ObjectHandle* make_object(ContextHandle*, std::size_t bytes) {
  return guarded(static_cast<ObjectHandle*>(nullptr), [&] {
    return new ObjectHandle{::sycl::buffer<unsigned char>(::sycl::range<1>(bytes)), {}};
  });
}

void free_object(ObjectHandle* object) {
  delete object;
}

ObjectHandle* part(ObjectHandle* of, std::size_t offset, std::size_t bytes) {
  return guarded(static_cast<ObjectHandle*>(nullptr), [&] {
    std::unique_ptr<ObjectHandle>& made = of->parts[{offset, bytes}];
    if (!made)
      made.reset(new ObjectHandle{
          ::sycl::buffer<unsigned char>(of->buffer, ::sycl::id<1>(offset), ::sycl::range<1>(bytes)), {}});
    return made.get();
  });
}

// A kernel of its own for each queue: arguments are the kernel's.
void take_copying(QueueHandle* queue, const ContextHandle& of) {
  if (of.copying == nullptr) return;
  cl_int code = CL_SUCCESS;
  const cl_kernel made = clCreateKernel(of.copying, "plumb_copy", &code);
  check(code, "clCreateKernel");
  queue->copy = ::sycl::make_kernel<backend::opencl>(made, of.context);
  queue->copiers = of.device.get_info<info::device::max_compute_units>();
  queue->long_from = long_from(of.device);
}

QueueHandle* make_queue(ContextHandle* of, int timed) {
  return guarded(static_cast<QueueHandle*>(nullptr), [&] {
    std::unique_ptr<QueueHandle> owner(new QueueHandle{});
    auto* const made = owner.get();
    const auto keep = [made](const ::sycl::exception_list& list) {
      for (const std::exception_ptr& error : list) made->asynchronous = error;
    };
    const auto in_order = ::sycl::property::queue::in_order();
    using Properties = ::sycl::property_list;
    const Properties properties =
        timed != 0 ? Properties{in_order, ::sycl::property::queue::enable_profiling()} : Properties{in_order};
    made->queue = ::sycl::queue(of->context, of->device, keep, properties);
    take_copying(made, *of);
    return owner.release();
  });
}

int enqueued(QueueHandle* queue, ::sycl::event event) {
  if (!queue->has_first) queue->first = event;
  queue->last = std::move(event);
  queue->has_first = queue->has_last = true;
  return 0;
}

::sycl::event copy_by_kernel(QueueHandle* queue, Copies copies) {
  const std::uint64_t bytes = std::accumulate(copies.bytes, copies.bytes + copies.count, std::uint64_t{0});
  copies.pieces = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / piece_bytes, 1, queue->copiers));
  return queue->queue.submit([&](::sycl::handler& handler) {
    handler.set_arg(0, copies);
    handler.parallel_for(::sycl::nd_range<1>(copies.pieces, 1), *queue->copy);
  });
}

void start_waiting(QueueHandle* queue) {
  Copies& waiting = queue->waiting;
  if (waiting.count == 0) return;
  if (waiting.count == 1 && waiting.bytes[0] < copy_from) {
    waiting.count = 0;
    enqueued(queue, queue->queue.memcpy(reinterpret_cast<void*>(waiting.to[0]),
                                        reinterpret_cast<const void*>(waiting.from[0]), waiting.bytes[0]));
  } else {
    const Copies copies = waiting;
    waiting.count = 0;
    enqueued(queue, copy_by_kernel(queue, copies));
  }
}

// SYCL's queue, for a command that comes after all copies.
::sycl::queue& after_copies(QueueHandle* queue) {
  start_waiting(queue);
  return queue->queue;
}

void free_queue(QueueHandle* queue) {
  guarded(0, [&] {
    after_copies(queue).wait();
    return 0;
  });
  delete queue;
}

// Whether a copy must come after those that wait: it writes bytes of theirs, or reads those that they write.
bool needs_waiting(const Copies& waiting, std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  for (std::uint32_t k = 0; k < waiting.count; ++k) {
    const auto overlap = [&](std::uint64_t own, std::uint64_t its) {
      return own < its + waiting.bytes[k] && its < own + bytes;
    };
    if (overlap(to, waiting.to[k]) || overlap(to, waiting.from[k]) || overlap(from, waiting.to[k])) return true;
  }
  return false;
}

void let_wait(QueueHandle* queue, std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  Copies& waiting = queue->waiting;
  if (waiting.count == Copies::most || needs_waiting(waiting, to, from, bytes)) start_waiting(queue);
  waiting.from[waiting.count] = from;
  waiting.to[waiting.count] = to;
  waiting.bytes[waiting.count++] = bytes;
  if (bytes >= queue->long_from) start_waiting(queue);
}

int copy(QueueHandle* queue, void* to, const void* from, std::size_t bytes) {
  return guarded(-1, [&] {
    if (!queue->copy) return enqueued(queue, queue->queue.memcpy(to, from, bytes));
    let_wait(queue, reinterpret_cast<std::uint64_t>(to), reinterpret_cast<std::uint64_t>(from), bytes);
    return 0;
  });
}

int fill(QueueHandle* queue, void* to, int byte, std::size_t bytes) {
  return guarded(-1, [&] { return enqueued(queue, after_copies(queue).memset(to, byte, bytes)); });
}

template <::sycl::access_mode mode>
auto accessed(::sycl::handler& handler, ObjectHandle* object, std::size_t offset, std::size_t bytes) {
  return object->buffer.get_access<mode>(handler, ::sycl::range<1>(bytes), ::sycl::id<1>(offset));
}

int read_object(QueueHandle* queue, void* to, ObjectHandle* from, std::size_t offset, std::size_t bytes) {
  return guarded(-1, [&] {
    return enqueued(queue, after_copies(queue).submit([&](::sycl::handler& handler) {
      handler.copy(accessed<::sycl::access_mode::read>(handler, from, offset, bytes), static_cast<unsigned char*>(to));
    }));
  });
}

int write_object(QueueHandle* queue, ObjectHandle* to, std::size_t offset, const void* from, std::size_t bytes) {
  return guarded(-1, [&] {
    return enqueued(queue, after_copies(queue).submit([&](::sycl::handler& handler) {
      handler.copy(static_cast<const unsigned char*>(from),
                   accessed<::sycl::access_mode::write>(handler, to, offset, bytes));
    }));
  });
}

int copy_object(QueueHandle* queue, ObjectHandle* to, std::size_t to_offset, ObjectHandle* from,
                std::size_t from_offset, std::size_t bytes) {
  return guarded(-1, [&] {
    return enqueued(queue, after_copies(queue).submit([&](::sycl::handler& handler) {
      handler.copy(accessed<::sycl::access_mode::read>(handler, from, from_offset, bytes),
                   accessed<::sycl::access_mode::write>(handler, to, to_offset, bytes));
    }));
  });
}

int fill_object(QueueHandle* queue, ObjectHandle* object, int byte) {
  return guarded(-1, [&] {
    return enqueued(queue, after_copies(queue).submit([&](::sycl::handler& handler) {
      handler.fill(accessed<::sycl::access_mode::write>(handler, object, 0, object->buffer.byte_size()),
                   static_cast<unsigned char>(byte));
    }));
  });
}

void set_arguments(::sycl::handler& handler, const Argument* arguments, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const int index = static_cast<int>(i);
    if (arguments[i].size == 0)
      handler.set_arg(index, const_cast<void*>(arguments[i].address));
    else if (arguments[i].size == object_argument)
      handler.set_arg(index, arguments[i].object->buffer.get_access<::sycl::access_mode::read_write>(handler));
    else if (arguments[i].size == sizeof(std::uint32_t))
      handler.set_arg(index, arguments[i].word);
    else
      handler.set_arg(index, arguments[i].long_word);
  }
}

// The largest power of two up to 64 that divides `global`: kernels of nd_range_kernel need groups.
std::size_t group_of(std::size_t global) {
  return std::min<std::size_t>(64, global & -global);
}

int launch(QueueHandle* queue, KernelHandle* kernel, const Argument* arguments, std::size_t count, std::size_t global,
           std::size_t local) {
  return guarded(-1, [&] {
    if (local == 0 && kernel->by_sycl) local = group_of(global);
    return enqueued(queue, after_copies(queue).submit([&](::sycl::handler& handler) {
      set_arguments(handler, arguments, count);
      if (local == 0)
        handler.parallel_for(::sycl::range<1>(global), kernel->kernel);
      else
        handler.parallel_for(::sycl::nd_range<1>(global, local), kernel->kernel);
    }));
  });
}

int follow(QueueHandle* queue, QueueHandle* earlier) {
  return guarded(-1, [&] {
    start_waiting(earlier);
    if (!earlier->has_last) return 0;
    return enqueued(queue, after_copies(queue).ext_oneapi_submit_barrier({earlier->last}));
  });
}

void throw_asynchronous(QueueHandle* queue) {
  if (queue->asynchronous) std::rethrow_exception(std::exchange(queue->asynchronous, nullptr));
}

int wait(QueueHandle* queue) {
  return guarded(-1, [&] {
    start_waiting(queue);
    if (queue->has_last)
      queue->last.wait_and_throw();  // in an in-order queue the last; 0.5 us less than the queue's wait
    throw_asynchronous(queue);
    return 0;
  });
}

int finished(QueueHandle* queue) {
  return guarded(-1, [&] {
    start_waiting(queue);
    if (!queue->has_last) return 1;
    const auto status = queue->last.get_info<info::event::command_execution_status>();
    if (status != info::event_command_status::complete) return 0;
    queue->queue.throw_asynchronous();
    throw_asynchronous(queue);
    return 1;
  });
}

int times(QueueHandle* queue, Times* times) {
  using namespace info::event_profiling;
  return guarded(-1, [&] {
    if (!queue->has_first) return 0;
    times->queued = queue->first.get_profiling_info<command_submit>();
    times->started = queue->first.get_profiling_info<command_start>();
    times->ended = queue->last.get_profiling_info<command_end>();
    return 1;
  });
}

void mark_first(QueueHandle* queue) {
  queue->has_first = false;
}

std::string build_log(cl_program program, cl_device_id device) {
  std::size_t size = 0;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, ' ');
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  while (!log.empty() && (log.back() == 0 || log.back() == '\n')) log.pop_back();
  return log;
}

std::string names_of(cl_program program) {
  std::size_t size = 0;
  check(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size), "clGetProgramInfo");
  std::string names(size, ' ');
  check(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, size, names.data(), nullptr), "clGetProgramInfo");
  return names.c_str();
}

// Kernels' names are "__sycl_kernel_" and the function's.
std::string names_of(const Executable& bundle) {
  const std::string before = "__sycl_kernel_";
  std::string names;
  for (const cl_program program : ::sycl::get_native<backend::opencl>(bundle)) {
    names += (names.empty() ? "" : ";") + names_of(program);
    clReleaseProgram(program);
  }
  for (std::size_t at = names.find(before); at != std::string::npos; at = names.find(before))
    names.erase(at, before.size());
  return names;
}

// Since libsycl 2025.1; before, there was a run-time compiler for some devices only.
template <class Device>
auto compiles_sycl(Device& device, int) -> decltype(device.ext_oneapi_can_build(experimental::source_language::sycl)) {
  return device.ext_oneapi_can_build(experimental::source_language::sycl);
}
template <class Device>
bool compiles_sycl(Device&, long) {
  return false;
}

ProgramHandle* build_sycl(ContextHandle* of, const char* text, const char* options, const char** log) {
  if (!compiles_sycl(of->device, 0))
    throw std::runtime_error("this libsycl has no run-time compiler for the device (libsycl-jit.so)");
  std::vector<std::string> words;
  std::istringstream all(options);
  for (std::string word; all >> word;)
    if (word.rfind("-cl-", 0) != 0) words.push_back(word);
  auto source = experimental::create_kernel_bundle_from_source(of->context, experimental::source_language::sycl,
                                                               std::string(text));
  try {
    auto built = experimental::build(source, experimental::properties{experimental::build_options{words}});
    const std::string names = names_of(built);
    return new ProgramHandle{of->context, nullptr, std::move(built), names};
  } catch (const ::sycl::exception& error) {
    failure.log = error.what();
    *log = failure.log.c_str();
    throw std::runtime_error("the run-time compiler refused it");
  }
}

// As OpenCL's: text, SPIR-V, which begins with its magic number, or a device's binary.
cl_program create(cl_context context, cl_device_id device, const char* text, const unsigned char* binary,
                  std::size_t binary_bytes) {
  constexpr unsigned char magic[4] = {0x03, 0x02, 0x23, 0x07};
  cl_int code = CL_SUCCESS;
  cl_program made = nullptr;
  if (binary_bytes == 0)
    made = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
  else if (binary_bytes >= sizeof magic && std::memcmp(binary, magic, sizeof magic) == 0)
    made = clCreateProgramWithIL(context, binary, binary_bytes, &code);
  else
    made = clCreateProgramWithBinary(context, 1, &device, &binary_bytes, &binary, nullptr, &code);
  check(code, "clCreateProgram");
  return made;
}

// The program is OpenCL's own, in the context's native form.
ProgramHandle* build(ContextHandle* of, int by_sycl, const char* text, const unsigned char* binary,
                     std::size_t binary_bytes, const char* options, const char** log) {
  return guarded(static_cast<ProgramHandle*>(nullptr), [&] {
    if (of->device.get_backend() != backend::opencl)
      throw std::runtime_error("OpenCL C needs SYCL's OpenCL backend, which this device does not have");
    if (by_sycl != 0) return build_sycl(of, text, options, log);
    const cl_context context = ::sycl::get_native<backend::opencl>(of->context);
    const cl_device_id device = ::sycl::get_native<backend::opencl>(of->device);
    const cl_program program = create(context, device, text, binary, binary_bytes);
    auto made = std::unique_ptr<ProgramHandle>(new ProgramHandle{of->context, program, {}, ""});
    const cl_int code = clBuildProgram(program, 1, &device, options, nullptr, nullptr);
    if (code != CL_SUCCESS) {
      failure.log = build_log(program, device);
      *log = failure.log.c_str();
    }
    check(code, "clBuildProgram");
    made->names = names_of(program);
    return made.release();
  });
}

void free_program(ProgramHandle* program) {
  delete program;
}

const char* kernel_names(ProgramHandle* program) {
  return program->names.c_str();
}

KernelHandle* kernel(ProgramHandle* of, const char* name) {
  return guarded(static_cast<KernelHandle*>(nullptr), [&] {
    if (of->bundle) {
      const ::sycl::kernel made = of->bundle->ext_oneapi_get_kernel(name);
      const cl_kernel native = ::sycl::get_native<backend::opencl>(made);
      clReleaseKernel(native);  // `made` keeps it
      return new KernelHandle{made, native, true};
    }
    cl_int code = CL_SUCCESS;
    const cl_kernel made = clCreateKernel(of->program, name, &code);
    check(code, "clCreateKernel");
    return new KernelHandle{::sycl::make_kernel<backend::opencl>(made, of->context), made, false};
  });
}

void free_kernel(KernelHandle* kernel) {
  delete kernel;
}

int parameters(KernelHandle* of) {
  return guarded(-1, [&] { return static_cast<int>(of->kernel.get_info<info::kernel::num_args>()); });
}

int fits(KernelHandle* of, unsigned index, const Argument* value) {
  return guarded(-1, [&] {
    check(clSetKernelArg(of->native, index, value->size, &value->word), "clSetKernelArg");
    return 0;
  });
}

// libplumb-sycl-mkl.so in the plug-in's folder. Throws where there is none.
const Libraries& libraries() {
  static const Libraries* found = nullptr;
  if (found != nullptr) return *found;
  Dl_info own{};
  static const char here = 0;
  dladdr(&here, &own);
  std::string path = own.dli_fname == nullptr ? "" : own.dli_fname;
  path = path.substr(0, path.rfind('/') + 1) + libraries_file;
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  auto* const get = reinterpret_cast<GetLibraries*>(dlsym(library, get_libraries_name));
  if (get == nullptr) throw std::runtime_error(path + " is not the plug-in's library");
  found = get();
  return *found;
}

const char* library() {
  return guarded(static_cast<const char*>(nullptr), [&] { return libraries().name; });
}

int multiply(QueueHandle* queue, const Product* product) {
  return guarded(-1, [&] { return enqueued(queue, libraries().multiply(after_copies(queue), *product)); });
}

TransformHandle* make_transform(QueueHandle* queue, std::size_t element_bytes, std::size_t length, std::size_t batch) {
  return guarded(static_cast<TransformHandle*>(nullptr), [&] {
    return new TransformHandle{libraries().make_transform(queue->queue, element_bytes, length, batch)};
  });
}

int transform(TransformHandle* its, QueueHandle* queue, int inverse, const void* from, void* to) {
  return guarded(-1, [&] {
    start_waiting(queue);
    return enqueued(queue, its->its->run(inverse != 0, from, to));
  });
}

void free_transform(TransformHandle* its) {
  delete its;
}

// Adler-32 (RFC 1950, section 9) of the file of the libsycl in this process, in hexadecimal: it has no build number of
// its own. plumbline/engine/runtimes.py computes the same at set-up.
std::string loaded_libsycl() {
  Dl_info found{};
  using Get = std::vector<::sycl::device>(info::device_type);
  if (dladdr(reinterpret_cast<void*>(static_cast<Get*>(&::sycl::device::get_devices)), &found) == 0) return "unknown";
  std::ifstream file(found.dli_fname, std::ios::binary);
  std::vector<char> bytes(1 << 20);
  std::uint32_t a = 1, b = 0;
  while (file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())), file.gcount() > 0) {
    const auto size = static_cast<std::size_t>(file.gcount());
    for (std::size_t i = 0; i < size;) {
      for (const std::size_t end = std::min(size, i + 5552); i < end; ++i) {  // sums fit 32 bits
        a += static_cast<unsigned char>(bytes[i]);
        b += a;
      }
      a %= 65521;
      b %= 65521;
    }
  }
  char text[16];
  std::snprintf(text, sizeof text, "%08x", b << 16 | a);
  return text;
}

const std::string loaded = loaded_libsycl();

const Interface table{
    interface_version,
#ifdef PLUMB_SYCL_BUILT_WITH
    PLUMB_SYCL_BUILT_WITH,
#else
    loaded.c_str(),  // compiled in its own SYCL installation (PLUMBLINE_SYCL_COMPILER)
#endif
    loaded.c_str(),
    [] { return failure.text.c_str(); },
    [] { return failure.code; },
    devices,
    open,
    close,
    opened,
    allocate,
    release,
    host_may_access,
    make_object,
    free_object,
    part,
    make_queue,
    free_queue,
    copy,
    fill,
    read_object,
    write_object,
    copy_object,
    fill_object,
    launch,
    follow,
    wait,
    finished,
    times,
    mark_first,
    build,
    free_program,
    kernel_names,
    kernel,
    free_kernel,
    parameters,
    fits,
    library,
    multiply,
    make_transform,
    transform,
    free_transform,
};

}  // namespace

}  // namespace plumb::sycl_plugin

extern "C" const plumb::sycl_plugin::Interface* plumb_sycl_interface() {
  return &plumb::sycl_plugin::table;
}
