// An open SYCL device behind the plug-in: the state that its buffers, queues and programs share and keep alive.
#pragma once

#include <memory>
#include <string>

#include "core/error.hpp"
#include "device/device.hpp"
#include "device/sycl/plugin/interface.hpp"

namespace plumb::sycl {

using sycl_plugin::Interface;

// The plug-in named by the environment variable PLUMBLINE_SYCL, loaded at the first call; null if there is none that
// works.
const Interface* find_plugin();
// Reason, if find_plugin() is null.
const std::string& why_no_plugin();
// find_plugin(), which must not be null.
const Interface& plugin();

// action: the failed operation, "make a queue". Reads the plug-in's latest failure in this thread.
Error plugin_error(const std::string& action);

// For calls that are timed: the message is built only on errors.
inline int check(int result, const char* action) {
  if (result < 0) [[unlikely]]
    throw plugin_error(action);
  return result;
}

// What a device has besides its DeviceInfo.
struct Aspects {
  bool on_host = false;     // uses the host's memory and cores
  bool usm_system = false;  // its kernels take addresses of any host memory
};

struct Context {
  Context(DeviceInfo its_info, Aspects its_aspects);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  DeviceInfo info;
  Aspects aspects;
  sycl_plugin::ContextHandle* handle = nullptr;
  sycl_plugin::QueueHandle* service = nullptr;  // for allocation
  std::uint64_t allocated = 0;                  // bytes of the device's memory allocated by this process
};

using SharedContext = std::shared_ptr<Context>;

// handle, or Error if it is null.
template <class Handle>
Handle* made(Handle* handle, const std::string& action) {
  if (handle == nullptr) throw plugin_error(action);
  return handle;
}

}  // namespace plumb::sycl
