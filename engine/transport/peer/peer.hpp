// Transport `peer`: devices of one host that share memory between processes (CUDA's IPC; memory files for devices on
// the host). Three approaches: the host starts copies into the neighbour's memory (host-buffered); kernels put messages
// into landing places of the neighbour, whose kernels take them from there (device-buffered); persistent kernels
// make all rounds by themselves (device-streaming, the port; seed 004, section 5.1.2 has the four of ACCL).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "transport/trade.hpp"
#include "transport/transport.hpp"

namespace plumb::peer {

// What several processes of this host use together while an exchange lives.
class Neighbours {
 public:
  // Those of a team; all of the world where there is none.
  Neighbours(World& world, Device& device, Team* team) : world_(world), device_(device), team_(team) {}
  // Collective among them when it goes: memory is closed by all who opened it before its owner frees it.
  ~Neighbours();
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  World& world() { return world_; }
  Device& device() { return device_; }
  // A view as text for another rank, and back. Throws Unsupported where its buffer is not shared.
  std::string offer(const BufferView& view);
  BufferView open(const std::string& text);

 private:
  World& world_;
  Device& device_;
  Team* team_;
  std::map<std::string, std::unique_ptr<Buffer>> opened_;
};

// For each send of a step, the slots that its receiver fills; its own for a message to itself.
std::vector<Slots> remote_slots(const Step& step, Neighbours& neighbours);

std::unique_ptr<CompiledExchange> compile_copies(const Exchange& exchange, std::unique_ptr<Neighbours> neighbours);
std::unique_ptr<CompiledExchange> compile_landing(const Exchange& exchange, std::unique_ptr<Neighbours> neighbours);
std::unique_ptr<Port> open_port(const Exchange& exchange, const KernelSource& source, const std::string& kernel,
                                std::unique_ptr<Neighbours> neighbours);

}  // namespace plumb::peer
