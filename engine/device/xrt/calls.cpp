#include "device/xrt/calls.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace plumb::xrt {

namespace {

struct Loaded {
  Library library{};
  bool found = false;
  std::string problem;

  Loaded() {
    // XRT ends the process where this variable is missing.
    if (std::getenv("XILINX_XRT") == nullptr) {
      problem = "XILINX_XRT is not set: install AMD's XRT (Debian: libxrt1), and source its setup.sh";
      return;
    }
    void* handle = dlopen("libxrt_coreutil.so.2", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) handle = dlopen("libxrt_coreutil.so", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      problem = fmt::format("AMD's XRT could not be loaded ({}): install it (Debian: libxrt1), and source its setup.sh",
                            dlerror());
      return;
    }
    found = find_all(handle);
  }

  bool find_all(void* handle) {
    const auto find = [&](auto*& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      if (function == nullptr) problem = fmt::format("AMD's XRT is too old: it has no function {}", name);
      return function != nullptr;
    };
    return find(library.count_devices, "_ZN3xrt6system17enumerate_devicesEv") &&
           find(library.open_device, "xrtDeviceOpen") && find(library.close_device, "xrtDeviceClose") &&
           find(library.load_file, "xrtDeviceLoadXclbinFile") &&
           find(library.bitstream_uuid, "xrtDeviceGetXclbinUUID") && find(library.allocate, "xrtBOAlloc") &&
           find(library.part, "xrtBOSubAlloc") && find(library.free, "xrtBOFree") &&
           find(library.synchronise, "xrtBOSync") && find(library.write, "xrtBOWrite") &&
           find(library.read, "xrtBORead") && find(library.open_kernel, "xrtPLKernelOpen") &&
           find(library.close_kernel, "xrtKernelClose") && find(library.open_run, "xrtRunOpen") &&
           find(library.set_argument, "xrtRunSetArg") && find(library.start, "xrtRunStart") &&
           find(library.wait_for, "xrtRunWaitFor") && find(library.state, "xrtRunState") &&
           find(library.close_run, "xrtRunClose");
  }
};

const Loaded& loaded() {
  static const Loaded once;
  return once;
}

}  // namespace

const Library* find_library() {
  return loaded().found ? &loaded().library : nullptr;
}

const std::string& why_no_library() {
  return loaded().problem;
}

// XRT's C functions set errno and print the reason.
void check(int code, const std::string& action) {
  if (code == 0) return;
  const int number = code < -1 ? -code : errno;
  throw Error(library_sentence(action, "XRT", code, number == 0 ? "no reason given" : std::strerror(number), ""));
}

}  // namespace plumb::xrt
