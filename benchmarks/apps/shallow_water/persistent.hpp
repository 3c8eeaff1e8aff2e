// The form whose kernels stay on the device for all steps of a sample: persistent.cl.
#pragma once

#include <memory>
#include <vector>

#include "benchmarks/apps/shallow_water/solver.hpp"
#include "transport/port.hpp"

namespace plumb::shallow_water {

class Persistent {
 public:
  static constexpr std::size_t places = 2;  // of a neighbour's messages, in turn: persistent.cl says why
  struct Memory {
    std::vector<Buffer*> states;
    Buffer *neighbours, *geometry, *bed, *dry, *list, *outgoing, *incoming;
    std::uint32_t stride, lanes;  // lanes: elements of a work item
  };

  // Collective with a transport. Throws Unsupported where not all groups are resident.
  Persistent(Session& session, Transport* transport, const Job& job, const Part& part, const Memory& memory,
             const std::string& options);
  Persistent(const Persistent&) = delete;
  Persistent& operator=(const Persistent&) = delete;

  // All stages from step `first` on, with the sea's level in each. Complete on return.
  void run(std::uint64_t first, const std::vector<double>& levels);
  bool is_streamed() const { return port_ != nullptr; }

  // Bytes of all messages that a rank sends in a stage: a pair's have the longer one's length in both directions.
  static std::size_t message_bytes(const Job& job, const Part& part);

 private:
  void open(Session& session, Transport& transport);
  void choose_groups(Session& session, Kernel& kernel);
  std::vector<KernelArgument> arguments(std::uint64_t first, std::uint32_t stages) const;
  std::vector<KernelArgument> trade_arguments(std::size_t neighbour, std::uint64_t first, std::uint32_t stages) const;
  std::unique_ptr<Buffer> filled(const std::vector<double>& values);
  KernelArgument real(double value) const;

  Job job_;
  Part part_;
  Memory memory_;
  Session& session_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Buffer> counters_, delivered_, levels_, shares_, stuck_;
  std::unique_ptr<Port> port_;
  std::uint32_t groups_ = 0, ports_ = 0;    // groups that compute, and that send and receive
  std::uint32_t begun_ = 0, received_ = 0;  // the counters' values
};

}  // namespace plumb::shallow_water
