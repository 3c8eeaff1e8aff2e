// Variant `device`: a breadth-first search by kernels (graph500.cl), direction-optimising, of each rank's part of the
// graph in its device's memory. Ranks exchange their bitmaps after each level, by the session's transport.
#pragma once

#include <memory>

#include "benchmarks/shmem/device_exchange.hpp"
#include "benchmarks/shmem/graph500/search.hpp"
#include "measure/benchmark.hpp"

namespace plumb::graph500 {

inline constexpr int largest_device_scale = 31;  // one 32-bit number means that there is no parent

// Copies the graph to the session's device. Collective.
std::unique_ptr<Search> make_device_search(Session& session, Team& team, const Graph& graph, const SearchPlan& plan);

// The same edges of a Kronecker graph as Generator's, bit for bit, made by the session's device.
EdgeList list_by_device(Session& session, const GraphPlan& plan, const EdgeRange& range, bool weighted);

DeviceBytes device_bytes(const GraphPlan& plan, int ranks);

}  // namespace plumb::graph500
