// Variant `device`: searches by kernels (graph500.cl) of each rank's part of the graph in its device's memory. Ranks
// exchange what they found after each level or round, by the session's transport.
#pragma once

#include <memory>

#include "benchmarks/shmem/graph500/device_graph.hpp"
#include "benchmarks/shmem/graph500/search.hpp"
#include "measure/benchmark.hpp"

namespace plumb::graph500 {

// Both refer to the graph on the device and to its rows on the host. Collective.
std::unique_ptr<Search> make_device_search(Session& session, Team& team, const Graph& graph, DeviceGraph& on_device,
                                           const SearchPlan& plan);
// For shortest paths.
std::unique_ptr<Search> make_device_paths(Session& session, Team& team, const Graph& graph, DeviceGraph& on_device,
                                          const SearchPlan& plan);

inline constexpr std::uint32_t no_parent = ~std::uint32_t{0};

}  // namespace plumb::graph500
