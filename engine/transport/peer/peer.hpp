// Transport `peer`: devices of one host that share memory between processes (CUDA's IPC; memory files for devices on
// the host). Three approaches: the host copies into the neighbour's memory (host-buffered); kernels write messages into
// landing places of the neighbour, whose kernels copy them from there (device-buffered); persistent kernels run all
// rounds (device-streaming, the port; seed 004, section 5.1.2, describes the four of ACCL).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "transport/trade.hpp"
#include "transport/transport.hpp"

namespace plumb::peer {

// Shared state of an exchange's processes on this host.
class Neighbours {
 public:
  // The ranks of a team, or of the whole world.
  Neighbours(World& world, Device& device, Team* team) : world_(world), device_(device), team_(team) {}
  // Collective destruction: every process closes the memory before its owner frees it.
  ~Neighbours();
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  World& world() { return world_; }
  Device& device() { return device_; }
  // A view as text for another rank, and back. Throws Unsupported for a buffer that is not shared.
  std::string offer(const BufferView& view);
  BufferView open(const std::string& text);

 private:
  World& world_;
  Device& device_;
  Team* team_;
  std::map<std::string, std::unique_ptr<Buffer>> opened_;
};

// For each send of a step, the receiver's slots; for a message to this rank itself, its own.
std::vector<Slots> remote_slots(const Step& step, Neighbours& neighbours);

std::unique_ptr<CompiledExchange> compile_copies(const Exchange& exchange, std::unique_ptr<Neighbours> neighbours);
std::unique_ptr<CompiledExchange> compile_landing(const Exchange& exchange, std::unique_ptr<Neighbours> neighbours);
std::unique_ptr<Port> open_port(const Exchange& exchange, const KernelSource& source, const std::string& kernel,
                                std::unique_ptr<Neighbours> neighbours);

}  // namespace plumb::peer
