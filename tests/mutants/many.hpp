// Many benchmarks over many transports in one launch, because launches take longer than what they run.
#pragma once

#include <string>

#include "world/world.hpp"

namespace plumb::mutants {

// Collective. `path` holds a JSON array of runs, one after the other:
//   {"benchmark", "transport", "runtime", "approach", "pipeline_chunk_kib", "wrong_mpi", "options": {name: value,
//   ...}},
// all but the first two of them optional; the options are the benchmark's own, wrong_mpi is a way of wrong_mpi.cpp.
// Prints an object a run on rank 0, a line each:
// {"status", "outcomes": [{"key", "status", "reason"},
// ...]} by case, as in the record; or {"status": "skipped", "reason"} where the transport does not work here. Throws
// what a run throws.
void run_many(World& world, const std::string& path);

}  // namespace plumb::mutants
