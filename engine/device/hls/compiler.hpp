// Compiles the text of HLS kernels by g++ to a shared library, cached by content, and loads it.
#pragma once

#include <memory>
#include <string>

#include "device/device.hpp"
#include "device/hls/include/plumb_hls.h"

namespace plumb::hls {

// A loaded text. Its kernels' code stays loaded as long as `library`.
struct Loaded {
  std::shared_ptr<void> library;
  const plumb_hls::Kernel* kernels = nullptr;  // ends with an entry without a name
};

// Path of g++ in the search path; "" if there is none.
std::string find_compiler();
inline constexpr const char* why_no_compiler =
    "HLS kernels are compiled at run time by g++, which is not in PATH: apt-get install g++";

// Libraries are kept in $XDG_CACHE_HOME/plumbline/hls (~/.cache/plumbline/hls), by a hash of all that they are made of,
// which is compared as well. Throws Unsupported without g++ or for a source without HLS C++, Error with the compiler's
// log, and for a text without kernels.
Loaded compile(const KernelSource& source);

}  // namespace plumb::hls
