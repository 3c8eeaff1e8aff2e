// The form for FPGAs (single_work_item.cl): kernels joined by channels, which hold a part of the mesh in local memory
// and run for many steps.
#pragma once

#include <memory>
#include <vector>

#include "benchmarks/apps/shallow_water/solver.hpp"
#include "transport/port.hpp"

namespace plumb::shallow_water {

// The kernels for boards of v++.
BoardKernels pipeline_kernels();

// Throws Unsupported if the device, the transport or one of all ranks' parts rules this form out.
void check_pipeline(const Session& session, const Job& job, const std::vector<Part>& parts);

class Pipeline {
 public:
  // As shallow_water.cl describes it; messages to and from the neighbours follow one another.
  struct Memory {
    Buffer *state, *neighbours, *geometry, *bed, *dry, *outgoing, *incoming;
    std::uint32_t stride;
  };
  // Without transport the part has no neighbours.
  Pipeline(Session& session, Transport* transport, const Job& job, const Part& part, const Memory& memory);
  // Whether the transport's kernels send and receive the messages of all stages by themselves.
  bool is_streamed() const { return port_ != nullptr; }

  // Starts the steps from `first` on, with the sea's level in each of their stages, and with what is given in each
  // (sources and exact edges, as shallow_water.cl has them), if anything is. Unless it is streamed, each stage then
  // needs collect(), the exchange and deliver().
  void start(std::uint64_t first, const std::vector<double>& seas, const std::vector<double>& given);
  void collect(Queue& queue) { queue.enqueue(*collect_, {1, 1}); }
  void deliver(Queue& queue);
  void finish();

 private:
  KernelSource source(Session& session, const Part& part) const;
  void build(Session& session, Transport* transport, const Part& part, const Memory& memory);
  void set_up(const Part& part, const Memory& memory);
  KernelArgument real(double value) const;
  std::unique_ptr<Buffer> filled(std::size_t bytes, const void* from);
  std::unique_ptr<Buffer> reals(const std::vector<double>& values);

  const Job& job_;
  Session& session_;
  std::unique_ptr<Queue> element_queue_, edge_queue_;
  std::unique_ptr<Buffer> roles_, shares_, seas_, given_, firsts_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Port> port_;
  std::unique_ptr<Kernel> element_, edge_, collect_, deliver_;
};

}  // namespace plumb::shallow_water
