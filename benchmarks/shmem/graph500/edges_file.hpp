// The list of edges as files, in the layout of reference 3.0 (environment variable TMPFILE).
#pragma once

#include <string>

#include "benchmarks/shmem/graph500/generator.hpp"

namespace plumb::graph500 {

// Writes a range of the list at its place: into `path` pairs of std::int64_t, into `path`.weights one float per
// edge, both in the host's byte order. Other ranks may write other ranges at the same time. Returns the problem,
// or "".
std::string write_edges(const std::string& path, const GraphPlan& plan, const EdgeRange& range);

// Reads a range of such files; weights only if `weights` is not empty. Throws Error with the reason.
void read_edges(const std::string& path, const EdgeRange& range, std::span<Edge> edges, std::span<float> weights);

// The number of edges of a file. Throws UsageError if it, or its weights where they are needed, cannot be read or are
// cut off.
std::uint64_t edges_of_file(const std::string& path, bool weighted);
// Throws UsageError if an edge among the first 2^26 is not of this graph.
void check_edges_file(const std::string& path, std::uint64_t vertices, bool weighted);

// What is wrong with the first wrong edge: a vertex that does not exist, or a weight that is negative, not finite or
// above 1e28 (sums of which may overflow); "" if all are right. `first` is the place of the first one in the list.
std::string wrong_edge(std::span<const Edge> edges, std::span<const float> weights, std::uint64_t vertices,
                       std::uint64_t first);

}  // namespace plumb::graph500
