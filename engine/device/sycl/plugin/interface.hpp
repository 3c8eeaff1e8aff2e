// The C interface between the engine and its SYCL plug-in, libplumb-sycl.so. No C++ object crosses it, because the
// binary interface of libsycl's classes changes between releases; only the plug-in includes SYCL's headers.
//
// Functions that return an int return a negative value on failure, those that return a pointer null; then error() has
// the text. Handles are thread-safe except queues, programs and kernels, which one thread uses at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plumb::sycl_plugin {

inline constexpr int interface_version = 2;

enum class DeviceType : int { cpu, gpu, accelerator };
enum class Memory : int { device, host, shared };

// Texts end with a zero; longer ones are cut.
struct DeviceFacts {
  char name[256];
  char platform[256];
  char vendor[128];
  char version[128];
  char driver[128];
  char backend[64];
  DeviceType type;
  std::uint32_t compute_units, largest_group, alignment_bits;
  std::uint64_t memory_bytes, largest_buffer_bytes, local_bytes, cache_bytes;
  // aspects
  bool fp16, fp64, atomic64, usm_device, usm_host, usm_shared, usm_system;
};

// An argument of a kernel: an address (size 0), or a value of 4 or 8 bytes.
struct Argument {
  std::uint32_t size;
  union {
    const void* address;
    std::uint32_t word;
    std::uint64_t long_word;
  };
};

struct ContextHandle;
struct QueueHandle;
struct ProgramHandle;
struct KernelHandle;

struct Interface {
  int version;              // interface_version of the plug-in
  const char* built_with;   // libsycl's build that the plug-in was compiled with
  const char* loaded_with;  // and the one in this process; the plug-in works only if both are equal
  // Of the latest failure in this thread: SYCL's text, and its code.
  const char* (*error)();
  long (*error_code)();

  // Number of devices, of which the first `capacity` are described. SYCL's order, which numbers them for open().
  int (*devices)(DeviceFacts* facts, int capacity);
  ContextHandle* (*open)(int ordinal);
  void (*close)(ContextHandle* context);

  // alignment: a power of two, in bytes.
  void* (*allocate)(ContextHandle* context, Memory kind, std::size_t bytes, std::size_t alignment);
  void (*release)(ContextHandle* context, void* memory);

  // An in-order queue. timed: its commands have times.
  QueueHandle* (*make_queue)(ContextHandle* context, int timed);
  void (*free_queue)(QueueHandle* queue);  // waits for its commands
  int (*copy)(QueueHandle* queue, void* to, const void* from, std::size_t bytes);
  int (*fill)(QueueHandle* queue, void* to, int byte, std::size_t bytes);
  // local: work items of a group; 0: the runtime's choice (by_sycl: the plug-in's).
  int (*launch)(QueueHandle* queue, KernelHandle* kernel, const Argument* arguments, std::size_t count,
                std::size_t global, std::size_t local);
  // Commands enqueued later start after those of `earlier`.
  int (*follow)(QueueHandle* queue, QueueHandle* earlier);
  int (*wait)(QueueHandle* queue);
  int (*finished)(QueueHandle* queue);  // 1: all commands are complete, 0: not yet
  // Nanoseconds of the device's clock: start of the first command after mark_first() or make_queue(), end of the last.
  // All must be complete. 0: none was enqueued.
  int (*times)(QueueHandle* queue, std::uint64_t* started, std::uint64_t* ended);
  void (*mark_first)(QueueHandle* queue);

  // Of OpenCL C, or of a device's binary if `binary_bytes` is not 0. by_sycl: of SYCL's free functions, each a kernel
  // of one dimension with C linkage, by the run-time compiler; options are separated by spaces. On failure `log` (if
  // not null) is set to the compiler's text, valid until the thread's next call.
  ProgramHandle* (*build)(ContextHandle* context, int by_sycl, const char* text, const unsigned char* binary,
                          std::size_t binary_bytes, const char* options, const char** log);
  void (*free_program)(ProgramHandle* program);
  const char* (*kernel_names)(ProgramHandle* program);  // "read;write"; valid as long as the program
  KernelHandle* (*kernel)(ProgramHandle* program, const char* name);
  void (*free_kernel)(KernelHandle* kernel);
  int (*parameters)(KernelHandle* kernel);  // their number
  // Whether a parameter takes a value of this size.
  int (*fits)(KernelHandle* kernel, unsigned index, const Argument* value);
};

using GetInterface = const Interface*();
inline constexpr const char* get_interface_name = "plumb_sycl_interface";

}  // namespace plumb::sycl_plugin
