// Kernels that schedule ACCL's transfers themselves (approaches device-buffered and device-streaming): connected to the
// engine of their rank by pipes, which FPGA emulators and HLS's C simulation have as io channels and as streams.
//
//   device-buffered    a kernel sends from its memory, another one receives into it: a command each
//                      (--accl-operands streams: by words to and from the engine)
//   device-streaming   a kernel sends its own words, to the stream of another rank's kernel: one command
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "transport/accl/engine.hpp"
#include "transport/port.hpp"
#include "transport/sockets.hpp"

namespace plumb::accl {

// Where the ends of a message are. Source: Meyer 2024, figure 5.1 and section 5.2.1.
enum class Paths {
  memory,     // buffered
  operands,   // buffered, but from the sending kernel's stream, and by the receive to the receiving kernel's
  streaming,  // to the receiving kernel's stream, without a receive
};

// A pipe between a kernel and the engine of the same process.
class Pipe {
 public:
  Pipe();  // throws Error
  int read_end() const { return read_end_.get(); }
  int write_end() const { return write_end_.get(); }
  std::string name() const;  // as a file, for a kernel

 private:
  Descriptor read_end_, write_end_;
};

// Of one kernel.
struct Pipes {
  Pipe commands, statuses, data;
};

// "" if kernels of this device can be connected.
std::string why_no_commands(const DeviceInfo& info);

// The lanes' kernels of all exchanges of a transport. Exchanges with the same lanes and the same text use the same
// kernels, one at a time.
class LaneKernels {
 public:
  LaneKernels(World& world, Device& device, Engine& engine, Paths paths);
  ~LaneKernels();
  LaneKernels(const LaneKernels&) = delete;
  LaneKernels& operator=(const LaneKernels&) = delete;
  // Collective. `beside`: as of KernelJoiner, "" = none.
  std::unique_ptr<Port> open_port(const Exchange& exchange, const KernelSource& source, const std::string& kernel,
                                  const std::string& beside = "");

  class Circuit;

 private:
  World& world_;
  Device& device_;
  Engine& engine_;
  Paths paths_;
  std::map<std::string, std::uint32_t> known_;      // own lanes and text: the circuit
  std::vector<std::unique_ptr<Circuit>> circuits_;  // numbered alike on all ranks
};

// A kernel that issues commands without messages: for what a command and a copy cost (l_k, l_m).
class CommandKernel {
 public:
  CommandKernel(Device& device, Engine& engine, int rank, std::uint32_t stream);
  ~CommandKernel();
  CommandKernel(const CommandKernel&) = delete;
  CommandKernel& operator=(const CommandKernel&) = delete;
  // `count` commands without work.
  void start(std::uint64_t count);
  // `count` copies of `bytes` from memory to the kernel's stream, which the kernel writes to memory: each a step
  // further.
  void start(std::uint64_t count, const BufferView& from, std::size_t from_step, const BufferView& to,
             std::size_t to_step, std::size_t bytes);
  void finish() { queue_->finish(); }

 private:
  void start(const std::vector<KernelArgument>& arguments);

  Engine& engine_;
  int rank_;
  std::uint32_t stream_;
  Pipes pipes_;
  KernelPipes ends_;
  std::unique_ptr<Buffer> nothing_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Queue> queue_;
};

}  // namespace plumb::accl
