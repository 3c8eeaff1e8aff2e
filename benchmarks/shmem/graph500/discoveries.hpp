// Top-down levels on several devices whose kernels send what they find themselves, through a transport's port
// (graph500.cl, kernel `discover`).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/shmem/graph500/device_graph.hpp"
#include "measure/benchmark.hpp"
#include "transport/port.hpp"

namespace plumb::graph500 {

class Discoveries {
 public:
  // Throws Unsupported, on all ranks, where the transport has no port for it, or a device has no room for all kernels
  // at the same time. Collective.
  static std::unique_ptr<Discoveries> open(Session& session, Team& team, const DeviceGraph& graph,
                                           std::uint32_t own_words);

  // Runs a level; returns when this device has all that all found. `earlier` is finished before. `of_level`: arguments
  // of kernel `follow`. Collective; the ranks agree on something before the next one.
  void run(Queue& earlier, const std::vector<KernelArgument>& of_level);

 private:
  Discoveries(Session& session, Team& team, const DeviceGraph& graph, std::uint32_t own_words);
  std::string problem_with(const DeviceInfo& info) const;  // "" = none

  std::uint32_t own_words_, kernels_;
  std::uint64_t most_packets_;  // of a group
  std::size_t packets_bytes_, pitch_;
  std::map<int, std::uint32_t> numbers_;         // of kernels, by lane
  std::unique_ptr<Buffer> outgoing_, incoming_;  // of each neighbour: a packet of all groups; places for those
  std::unique_ptr<Buffer> ended_, all_ended_;
  std::unique_ptr<Port> port_;  // ends before the buffers
  std::uint64_t levels_ = 0;
};

}  // namespace plumb::graph500
