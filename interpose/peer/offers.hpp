// Messages from device to device without the host's memory (PLUMB_MPI_TRANSPORT=peer). MPI carries an envelope with the
// message's tag on its communicator, so that MPI matches the messages. The envelope names an entry on the sender's
// board, which tells where the bytes are; the receiver copies them from there. If no receiver takes the message soon,
// the sender moves it to its own memory, a slot, and is done: no send waits for what its receiver does between MPI
// calls.
#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "device/device.hpp"
#include "interpose/memory/registry.hpp"

namespace plumb::interpose {

class OpenDevice;
struct Entry;

// Whether a message may come as an envelope, for all ranks alike: of PLUMB_MPI_TRANSPORT=peer (peer_on), or of a
// message in pieces (staging/pieces.hpp). False before MPI_Init.
extern bool offers_on, peer_on;
// Messages of fewer bytes never go in pieces; the same on all ranks.
extern std::size_t pieces_from;
// The number of bytes in an environment variable, the same for all ranks. Throws Error for any other value.
std::size_t bytes_from(const char* variable, std::size_t otherwise);
// Collective over all ranks. host: the ranks of this host.
void agree_on_offers(MPI_Comm host);

// For the ranks of a communicator (of the other side of an intercommunicator), kept as its attribute.
struct Partner {
  int rank = MPI_PROC_NULL;  // of MPI_COMM_WORLD; MPI_UNDEFINED: in another world
  bool on_host = false;      // on this host, and not this process
};
// Of a rank that is none: a Partner that is none.
Partner partner_of(int rank, MPI_Comm comm);

// The data that MPI carries instead of the message. No other message has this size and begins with `mark`.
struct Envelope {
  static constexpr std::array<std::uint64_t, 2> mark_value{0x8f1d6b03c75ea942, 0x41e90ad7b2685c3f};
  std::array<std::uint64_t, 2> mark = mark_value;
  std::uint64_t bytes = 0;  // of the message
  std::uint64_t entry = 0;
  // Place of the message until its sender moves it, which the entry tells. Buffers and boards are identified by
  // numbers.
  std::uint64_t process = 0, buffer = 0, offset = 0;
  std::array<char, 64> board = {};  // handle of the sender's board
  // If not 0, the message comes in pieces of this many bytes, from rank `process` of all ranks with tag `entry`.
  std::uint64_t piece = 0;

  // None if the bytes are not an envelope.
  static std::optional<Envelope> of(const void* message, std::size_t bytes);
};

// The sender's side of a message.
class Offer {
 public:
  // Null if the message goes by MPI: its memory is not shared, it is short, the receiver is this process, on another
  // host or MPI_PROC_NULL, or too many messages are not taken yet.
  static std::unique_ptr<Offer> make(const void* address, std::ptrdiff_t first, std::size_t bytes, int to,
                                     MPI_Comm comm);
  Offer(std::shared_ptr<DeviceMemory> memory, std::size_t entry, const Envelope& envelope);
  ~Offer() { settle(); }
  Offer(const Offer&) = delete;
  Offer& operator=(const Offer&) = delete;

  const Envelope& envelope() const { return envelope_; }
  // Whether the program may reuse the message's memory. Does not wait, but moves a message that was offered long
  // enough.
  bool settled();
  void settle();

 private:
  std::shared_ptr<DeviceMemory> memory_;
  std::size_t entry_;
  Envelope envelope_;
  std::chrono::steady_clock::time_point until_;  // before, the message is not moved
  bool settled_ = false;
};

// The receiver's side of a message; when this is destroyed, the sender may reuse the memory. Throws Error if the memory
// cannot be opened here.
class Taking {
 public:
  // wanted: the device that the message is for, or null; another device reads it if the runtimes differ.
  Taking(const Envelope& envelope, const std::shared_ptr<OpenDevice>& wanted);
  ~Taking();
  Taking(const Taking&) = delete;
  Taking& operator=(const Taking&) = delete;

  OpenDevice& device() const { return *device_; }  // that reads it
  BufferView bytes() const { return bytes_; }

 private:
  Entry* entry_;
  std::shared_ptr<OpenDevice> device_;
  BufferView bytes_;
};

}  // namespace plumb::interpose
