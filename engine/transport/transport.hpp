// How bytes get from one rank's buffer to another's. A benchmark describes an exchange (who sends what to whom, in
// which steps); a transport compiles it once and then runs it a number of times.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/registry.hpp"
#include "device/device.hpp"
#include "world/world.hpp"

namespace plumb {

// One message a round. The slots are used in turn: round i takes slots[i % slots.size()]. All slots of a transfer have
// one size. Where a receive's slots are a send's shifted by one, a round passes on what the round before received.
struct Transfer {
  int peer = 0;  // rank
  int lane = 0;  // pairs a send with its receive: same lane on both ranks
  std::vector<BufferView> slots;
};

// Transfers that are under way together.
struct Step {
  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
};

// What one rank does in a round: its steps, one after the other. With window > 1 that many rounds are under way
// together (their slots must not overlap), and a round count is a multiple of the window.
struct Exchange {
  std::vector<Step> steps;
  std::uint64_t window = 1;
};

// An exchange made ready: requests, staging memory, kernels exist. Used for any number of runs, one at a time.
class CompiledExchange {
 public:
  virtual ~CompiledExchange() = default;
  // Starts rounds first .. first + count - 1 and returns; they go on in test() and wait().
  virtual void start(std::uint64_t first, std::uint64_t count) = 0;
  // True when all rounds are complete on this rank; never waits.
  virtual bool test() = 0;
  // Returns when all rounds are complete on this rank: received bytes are in their buffers, sent buffers are free.
  virtual void wait() = 0;

  void run(std::uint64_t first, std::uint64_t count) {
    start(first, count);
    wait();
  }
};

struct TransportInfo {
  std::string name;
  std::string summary;       // one line
  std::string scheduled_by;  // "host" or "device": who starts a transfer
  std::string landing;       // "buffered" or "streaming": where it lands
};

// A transport knows its world and its device for as long as it lives.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual const TransportInfo& info() const = 0;
  // The transport that carries bytes between hosts within this one; null when there is none.
  virtual Transport* host_leg() { return nullptr; }
  // Throws Unsupported with the reason when the views lie where this transport cannot reach.
  virtual std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) = 0;
};

// What registers a transport. `reason` says, before any device is touched, why it cannot work in this world
// ("" = it can). needs_host_memory: its buffers must have a host_pointer(), so `native` is its default runtime.
struct TransportEntry {
  TransportInfo info;
  bool needs_host_memory = false;
  std::function<std::string(const World&)> reason;
  std::function<std::unique_ptr<Transport>(World&, Device&)> make;
};

using RegisteredTransport = Registered<TransportEntry>;

// The entry of that name; throws UsageError naming those there are.
const TransportEntry& find_transport(const std::string& name);
// The transport that moves host memory between this world's ranks, named by the world.
std::unique_ptr<Transport> make_host_transport(World& world, Device& device);

// Throws UsageError-free Error when an exchange is not well formed: sizes of slots differ, a peer is no rank, windows.
void check_exchange(const Exchange& exchange, const World& world);

}  // namespace plumb
