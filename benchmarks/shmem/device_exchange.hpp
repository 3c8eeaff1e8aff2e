// Messages between ranks' devices: buffers on the device, one exchange of the session's transport.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "measure/benchmark.hpp"
#include "transport/transport.hpp"

namespace plumb {

// Messages begin at multiples of so many bytes.
inline constexpr std::size_t message_alignment = 4096;
inline std::size_t aligned(std::size_t bytes) {
  return (bytes + message_alignment - 1) / message_alignment * message_alignment;
}

// Of this rank: what it sent, and seconds within calls of the transport.
struct Traffic {
  double messages = 0, bytes = 0, exposed_seconds = 0;
};

// Upper bounds of a rank's device memory.
struct DeviceBytes {
  std::uint64_t all = 0, largest_buffer = 0;
};

// One message each way by lane: the k-th lane's send to one rank, and its receive from another (or the same).
class DeviceExchange {
 public:
  struct Message {
    int peer = 0, lane = 0;
    std::size_t offset = 0, bytes = 0;  // in the buffer; bytes of the largest message
  };
  // Collective. Lanes of different objects may be equal, as one is under way at a time.
  DeviceExchange(Session& session, const std::vector<Message>& sends, std::size_t send_bytes,
                 const std::vector<Message>& receives, std::size_t receive_bytes, Traffic& traffic);

  Buffer& outgoing() { return *outgoing_; }
  Buffer& incoming() { return *incoming_; }
  // Bytes of the messages from the next start on.
  void set_sizes(const std::vector<std::size_t>& sends, const std::vector<std::size_t>& receives);
  void start(Queue& queue);  // after the commands that fill `outgoing`
  void wait();

 private:
  std::unique_ptr<Buffer> outgoing_, incoming_;
  std::unique_ptr<CompiledExchange> exchange_;  // destroyed before its buffers
  std::vector<std::size_t> sizes_;              // of the messages sent
  Traffic& traffic_;
};

}  // namespace plumb
