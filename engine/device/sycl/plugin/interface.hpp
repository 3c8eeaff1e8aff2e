// The C interface between the engine and its SYCL plug-in, libplumb-sycl.so. No C++ object crosses it, because the
// binary interface of libsycl's classes changes between releases; only the plug-in includes SYCL's headers.
//
// Functions that return an int return a negative value on failure, those that return a pointer null; then error() has
// the text. Handles are thread-safe except queues, programs and kernels, which one thread uses at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plumb::sycl_plugin {

inline constexpr int interface_version = 4;

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

struct ContextHandle;
struct QueueHandle;
struct ProgramHandle;
struct KernelHandle;
struct ObjectHandle;
struct TransformHandle;

// An argument of a kernel: an address (size 0), a value of 4 or 8 bytes, or a memory object (size object_argument).
inline constexpr std::uint32_t object_argument = 0xffffffff;
struct Argument {
  std::uint32_t size;
  union {
    const void* address;
    std::uint32_t word;
    std::uint64_t long_word;
    ObjectHandle* object;
  };
};

// C = alpha A B + beta C of contiguous row-major matrices, whose elements have element_bytes (2: half).
struct Product {
  std::size_t element_bytes, rows, columns, inner;
  double alpha, beta;
  const void *a, *b;
  void* c;
};

// Nanoseconds of the device's clock: of the first command after mark_first() or make_queue(), and the last one's end.
struct Times {
  std::uint64_t queued, started, ended;
};

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
  int (*opened)(ContextHandle* context);  // the ordinal of its device, found by comparison with all devices

  // alignment: a power of two, in bytes.
  void* (*allocate)(ContextHandle* context, Memory kind, std::size_t bytes, std::size_t alignment);
  void (*release)(ContextHandle* context, void* memory);
  // 1 if SYCL gives the host access to memory of allocate(), by the kind that SYCL says it has; else 0.
  int (*host_may_access)(ContextHandle* context, const void* memory);

  // A memory object: a sycl::buffer, which has no address and is reached by accessors.
  ObjectHandle* (*make_object)(ContextHandle* context, std::size_t bytes);
  void (*free_object)(ObjectHandle* object);  // with its parts
  // A part as an object of its own, which belongs to `object`: the same one for the same bytes.
  ObjectHandle* (*part)(ObjectHandle* object, std::size_t offset, std::size_t bytes);

  // An in-order queue. timed: its commands have times.
  QueueHandle* (*make_queue)(ContextHandle* context, int timed);
  void (*free_queue)(QueueHandle* queue);  // waits for its commands
  int (*copy)(QueueHandle* queue, void* to, const void* from, std::size_t bytes);
  int (*fill)(QueueHandle* queue, void* to, int byte, std::size_t bytes);
  int (*read_object)(QueueHandle* queue, void* to, ObjectHandle* from, std::size_t offset, std::size_t bytes);
  int (*write_object)(QueueHandle* queue, ObjectHandle* to, std::size_t offset, const void* from, std::size_t bytes);
  int (*copy_object)(QueueHandle* queue, ObjectHandle* to, std::size_t to_offset, ObjectHandle* from,
                     std::size_t from_offset, std::size_t bytes);
  int (*fill_object)(QueueHandle* queue, ObjectHandle* object, int byte);
  // local: work items of a group; 0: the runtime's choice (by_sycl: the plug-in's).
  int (*launch)(QueueHandle* queue, KernelHandle* kernel, const Argument* arguments, std::size_t count,
                std::size_t global, std::size_t local);
  // Commands enqueued later start after those of `earlier`.
  int (*follow)(QueueHandle* queue, QueueHandle* earlier);
  int (*wait)(QueueHandle* queue);
  int (*finished)(QueueHandle* queue);  // 1: all commands are complete, 0: not yet
  // All commands must be complete. 0: none was enqueued.
  int (*times)(QueueHandle* queue, Times* times);
  void (*mark_first)(QueueHandle* queue);

  // Of OpenCL C, or of SPIR-V or a device's binary if `binary_bytes` is not 0. by_sycl: of SYCL's free functions, each
  // a kernel of one dimension with C linkage, by the run-time compiler; options are separated by spaces. On failure
  // `log` (if not null) is set to the compiler's text, valid until the thread's next call.
  ProgramHandle* (*build)(ContextHandle* context, int by_sycl, const char* text, const unsigned char* binary,
                          std::size_t binary_bytes, const char* options, const char** log);
  void (*free_program)(ProgramHandle* program);
  const char* (*kernel_names)(ProgramHandle* program);  // "read;write"; valid as long as the program
  KernelHandle* (*kernel)(ProgramHandle* program, const char* name);
  void (*free_kernel)(KernelHandle* kernel);
  int (*parameters)(KernelHandle* kernel);  // their number
  // Whether a parameter takes a value of this size.
  int (*fits)(KernelHandle* kernel, unsigned index, const Argument* value);

  // oneMKL, by a library beside the plug-in. Its name; null if there is none: error() has the reason.
  const char* (*library)();
  int (*multiply)(QueueHandle* queue, const Product* product);
  // `batch` contiguous complex transforms of `length` points, (re, im) pairs of element_bytes each; unscaled.
  TransformHandle* (*make_transform)(QueueHandle* queue, std::size_t element_bytes, std::size_t length,
                                     std::size_t batch);
  int (*transform)(TransformHandle* transform, QueueHandle* queue, int inverse, const void* from, void* to);
  void (*free_transform)(TransformHandle* transform);
};

using GetInterface = const Interface*();
inline constexpr const char* get_interface_name = "plumb_sycl_interface";

}  // namespace plumb::sycl_plugin
