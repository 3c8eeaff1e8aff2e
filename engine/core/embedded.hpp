// Device code that lies beside its benchmark as a file (*.cl), built into the program, so that it needs no files to
// run.
#pragma once

#include <string>

namespace plumb {

// The text of a file by its path in the repository: "benchmarks/hpcc/stream/nd_range.cl". Throws Error when there is
// none.
const std::string& embedded_text(const std::string& path);

}  // namespace plumb
