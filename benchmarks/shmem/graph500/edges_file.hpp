// The list of edges as files, in the layout of reference 3.0 (environment variable TMPFILE).
#pragma once

#include <string>

#include "benchmarks/shmem/graph500/generator.hpp"

namespace plumb::graph500 {

// Writes a range of the list at its place: into `path` pairs of std::int64_t, into `path`.weights one float per
// edge, both in the host's byte order. Other ranks may write other ranges at the same time. Returns the problem,
// or "".
std::string write_edges(const std::string& path, const GraphPlan& plan, const EdgeRange& range);

}  // namespace plumb::graph500
