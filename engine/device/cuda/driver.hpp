// CUDA's driver interface, loaded at run time, so one build serves machines with and without it: the part of cuda.h in
// use, with NVIDIA's names and values (CUDA Driver API reference).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/error.hpp"

namespace plumb::cuda {

using Result = int;  // CUresult
using DeviceNumber = int;
using Address = std::byte*;  // CUdeviceptr has the same size; also addresses pinned and managed memory
using Context = struct OpaqueContext*;
using Module = struct OpaqueModule*;
using Function = struct OpaqueFunction*;
using Stream = struct OpaqueStream*;
using Event = struct OpaqueEvent*;

enum : Result { success = 0, out_of_memory = 2, no_device = 100, not_ready = 600 };

enum class Attribute : int {
  largest_group = 1,
  group_shared_bytes = 8,
  multiprocessors = 16,
  pci_bus = 33,
  pci_device = 34,
  l2_cache_bytes = 38,
  pci_domain = 50,
  compute_major = 75,
  compute_minor = 76,
  concurrent_managed_access = 89,
  largest_group_shared_bytes = 97
};

enum class FunctionAttribute : int { largest_added_shared_bytes = 8 };

// CUtensorMap and the enumerators in use.
struct alignas(64) TileMap {
  std::uint64_t words[16];
};
enum class TileElement : int { bits_16 = 1, float_32 = 7, float_64 = 8, tf32 = 11 };
constexpr int no_interleave = 0, swizzle_128_bytes = 3, fetch_256_bytes = 3, zeros_outside = 0;

constexpr unsigned host_portable = 1, host_mapped = 2;  // cuMemHostAlloc, cuMemHostRegister
constexpr unsigned ipc_lazy_peer_access = 1;            // cuIpcOpenMemHandle

// CUipcMemHandle
struct IpcHandle {
  unsigned char bytes[64];
};
constexpr unsigned attach_global = 1;        // cuMemAllocManaged
constexpr unsigned stream_non_blocking = 1;  // cuStreamCreate
constexpr unsigned event_without_time = 2;   // cuEventCreate
constexpr unsigned schedule_spin = 1;        // cuDevicePrimaryCtxSetFlags

struct Driver {
  Result (*init)(unsigned);
  Result (*driver_version)(int*);
  Result (*device_count)(int*);
  Result (*device_get)(DeviceNumber*, int);
  Result (*device_name)(char*, int, DeviceNumber);
  Result (*device_total_memory)(std::size_t*, DeviceNumber);
  Result (*device_attribute)(int*, Attribute, DeviceNumber);
  Result (*primary_context_flags)(DeviceNumber, unsigned);
  Result (*primary_context_retain)(Context*, DeviceNumber);
  Result (*context_set_current)(Context);
  Result (*memory_info)(std::size_t*, std::size_t*);
  Result (*memory_alloc)(Address*, std::size_t);
  Result (*memory_free)(Address);
  Result (*memory_host_alloc)(void**, std::size_t, unsigned);
  Result (*memory_host_free)(void*);
  Result (*memory_host_register)(void*, std::size_t, unsigned);
  Result (*memory_host_unregister)(void*);
  Result (*memory_managed_alloc)(Address*, std::size_t, unsigned);
  Result (*ipc_handle)(IpcHandle*, Address);
  Result (*ipc_open)(Address*, IpcHandle, unsigned);
  Result (*ipc_close)(Address);
  Result (*memory_set)(Address, unsigned char, std::size_t);
  Result (*copy)(Address, const std::byte*, std::size_t, Stream);
  Result (*stream_create)(Stream*, unsigned);
  Result (*stream_destroy)(Stream);
  Result (*stream_synchronize)(Stream);
  Result (*stream_wait)(Stream, Event, unsigned);
  Result (*stream_query)(Stream);
  Result (*event_create)(Event*, unsigned);
  Result (*event_destroy)(Event);
  Result (*event_record)(Event, Stream);
  Result (*event_elapsed)(float*, Event, Event);
  Result (*module_load)(Module*, const void*);
  Result (*module_unload)(Module);
  Result (*module_function)(Function*, Module, const char*);
  Result (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**,
                   void**);
  Result (*function_set_attribute)(Function, FunctionAttribute, int);
  Result (*resident_groups)(int*, Function, int, std::size_t);  // of a multiprocessor
  Result (*error_name)(Result, const char**);
  Result (*error_text)(Result, const char**);
  Result (*stream_priorities)(int* least, int* greatest);
  Result (*urgent_stream_create)(Stream*, unsigned, int);
  // From CUDA 12.4; null with older drivers.
  Result (*function_count)(unsigned*, Module);
  Result (*list_functions)(Function*, unsigned, Module);
  Result (*function_name)(const char**, Function);
  Result (*function_parameter)(Function, std::size_t, std::size_t*, std::size_t*);
  // From CUDA 12; null with older drivers.
  Result (*encode_tiles)(TileMap*, TileElement, std::uint32_t dimensions, void* address, const std::uint64_t* sizes,
                         const std::uint64_t* strides, const std::uint32_t* tile, const std::uint32_t* element_strides,
                         int interleave, int swizzle, int fetch, int outside);
};

// Loaded and initialised once. Null without a driver; why_no_driver() gives the reason and a remedy.
const Driver* find_driver();
const std::string& why_no_driver();
// For callers that have checked that there is a driver.
inline const Driver& driver() {
  return *find_driver();
}

Error result_error(Result result, const std::string& action);

inline void check(Result result, const char* action) {
  if (result != success) [[unlikely]]
    throw result_error(result, action);
}

}  // namespace plumb::cuda
