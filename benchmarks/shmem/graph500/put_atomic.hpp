// Variants `put-atomic` and `threaded`: an atomic or of its bit claims each vertex, then its parent is put, one by
// one, as in the OpenSHMEM Benchmark Suite; by one thread, or by several with a context each.
#pragma once

#include "benchmarks/shmem/graph500/search.hpp"
#include "world/one_sided.hpp"

namespace plumb::graph500 {

// Bytes of each rank's memory: the bits of its vertices, and their parents.
std::uint64_t put_atomic_bytes(const Layout& layout);

// Collective; a thread for each context of the memory.
std::unique_ptr<Search> make_put_atomic(Team& team, const Graph& graph, std::unique_ptr<OneSided> memory);

}  // namespace plumb::graph500
