// Kernels' sources and binaries, for tools that build bitstreams: --embedded and --compile.
#pragma once

#include <string>
#include <vector>

namespace plumb {

// Prints an embedded file; returns the exit status.
int print_embedded(const std::string& path);

// Compiles OpenCL C (`words`: source, output, the compiler's options) by the runtime of the first OpenCL device, writes
// the binary that --kernel-file takes, and prints its kernels' names and the device as JSON. Returns the exit status.
// Throws Error with the compiler's log.
int compile_kernels(const std::vector<std::string>& words);

}  // namespace plumb
