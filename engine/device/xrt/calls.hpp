// XRT's C interface, loaded at run time: the part of xrt/xrt_device.h, xrt_bo.h and xrt_kernel.h in use, with AMD's
// values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/error.hpp"

namespace plumb::xrt {

using DeviceHandle = void*;
using BufferHandle = void*;
using KernelHandle = void*;
using RunHandle = void*;
using Uuid = unsigned char[16];

enum Direction : int { to_device = 0, from_device = 1 };  // xclBOSyncDirection
enum State : int { completed = 4, error = 5, aborted = 6, timed_out = 8, no_response = 9, crashed = 11 };  // ert.h
constexpr std::uint64_t no_flags = 0;

struct Library {
  unsigned (*count_devices)();  // xrt::system::enumerate_devices(), for which the C interface has no function
  DeviceHandle (*open_device)(unsigned index);
  int (*close_device)(DeviceHandle);
  int (*load_file)(DeviceHandle, const char* file);
  int (*bitstream_uuid)(DeviceHandle, Uuid);
  BufferHandle (*allocate)(DeviceHandle, std::size_t bytes, std::uint64_t flags, unsigned bank);
  BufferHandle (*part)(BufferHandle, std::size_t bytes, std::size_t offset);
  int (*free)(BufferHandle);
  int (*synchronise)(BufferHandle, Direction, std::size_t bytes, std::size_t offset);
  int (*write)(BufferHandle, const void*, std::size_t bytes, std::size_t offset);
  int (*read)(BufferHandle, void*, std::size_t bytes, std::size_t offset);
  KernelHandle (*open_kernel)(DeviceHandle, const unsigned char* uuid, const char* name);
  int (*close_kernel)(KernelHandle);
  RunHandle (*open_run)(KernelHandle);
  int (*set_argument)(RunHandle, int index, ...);
  int (*start)(RunHandle);
  int (*wait_for)(RunHandle, unsigned milliseconds);
  int (*state)(RunHandle);
  int (*close_run)(RunHandle);
};

// Null without XRT; why_no_library() gives the reason and a remedy.
const Library* find_library();
const std::string& why_no_library();
// For callers that have checked that there is one.
inline const Library& library() {
  return *find_library();
}

// Throws Error for a null handle or a code that is not 0.
void check(int code, const std::string& action);
template <class Handle>
Handle checked(Handle handle, const std::string& action) {
  if (handle == nullptr) check(-1, action);
  return handle;
}

}  // namespace plumb::xrt
