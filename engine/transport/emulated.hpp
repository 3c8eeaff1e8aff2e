// Transports that stand in for hardware which is absent: their times are of no board, but what they count is what the
// hardware would do.
#pragma once

#include <functional>
#include <string>

#include "core/json_fwd.hpp"
#include "transport/transport.hpp"

namespace plumb {

class EmulatedTransport : public Transport {
 public:
  // Collective. What it counted on all ranks since the last call, for a case's record (rank 0); null if nothing.
  virtual Json counted() = 0;
  // Collective. Which messages got lost for good since the last call, "" if none; it works again afterwards.
  virtual std::string problem() = 0;
};

// Null for a transport that is none, and for null.
inline EmulatedTransport* emulated_transport(Transport* transport) {
  return dynamic_cast<EmulatedTransport*>(transport);
}

// Registered under the transport's name.
struct Emulation {
  std::string sentence;  // what stands in for what
  // Throws UsageError for invalid settings, before a device is opened.
  std::function<void(const World&, const TransportWish&)> check;
};
using RegisteredEmulation = Registered<Emulation>;

// "" if no emulation has this name.
inline std::string emulation_of(const std::string& transport) {
  const Emulation* found = Registry<Emulation>::instance().find(transport);
  return found == nullptr ? "" : found->sentence;
}

}  // namespace plumb
