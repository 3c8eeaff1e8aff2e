// Device code (*.cl beside its benchmark) embedded into the program, which needs no files at run time.
#pragma once

#include <string>

namespace plumb {

// Contents of a file by its path in the repository: "benchmarks/hpcc/stream/nd_range.cl". Throws Error if missing.
const std::string& embedded_text(const std::string& path);

}  // namespace plumb
