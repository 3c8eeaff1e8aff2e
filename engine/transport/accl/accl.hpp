// Transports `accl-tcp` and `accl-udp`: messages by a software engine of ACCL (engine.hpp).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "transport/accl/kernels.hpp"
#include "transport/emulated.hpp"

namespace plumb::accl {

// How a transport's network and engine are made; tests make wrong ones.
struct Makers {
  std::function<std::unique_ptr<Network>(std::unique_ptr<Network>)> network = {};
  using MakeEngine = std::unique_ptr<Engine>(int rank, int size, const Settings& settings,
                                             std::unique_ptr<Network> network, std::uint32_t session);
  std::function<MakeEngine> engine = {};
};

// A transport with an engine, for benchmarks of the engine itself.
class EngineTransport : public EmulatedTransport {
 public:
  virtual Engine& engine() = 0;
  // A kernel that issues commands itself, and its stream; null where the host schedules.
  virtual std::unique_ptr<CommandKernel> command_kernel(std::uint32_t stream) = 0;
};

// Registry entry of accl-tcp or accl-udp.
TransportEntry accl_entry(const std::string& name, const Makers& makers = {});

}  // namespace plumb::accl
