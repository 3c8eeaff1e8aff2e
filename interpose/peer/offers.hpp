// Messages from device to device past the memory of the host (PLUMB_MPI_TRANSPORT=peer). MPI carries an envelope with
// the message's tag on its communicator, so that messages match as MPI has it; it names an entry on the sender's board,
// which says where the bytes lie, and who receives it copies them from there. A sender whose message nobody takes soon
// moves it to memory of its own, a slot, and is done: no send waits for what its receiver does between MPI calls.
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

// Whether all ranks asked for it; set by MPI_Init, and false before.
extern bool offers_on;
// A number of bytes that an environment variable has, the same for all ranks. Throws Error when it is none.
std::size_t bytes_from(const char* variable, std::size_t otherwise);
// Collective over all ranks. host: those of this host.
void agree_on_offers(MPI_Comm host);

// What MPI carries instead of the message. No other message has this size and begins with `mark`.
struct Envelope {
  static constexpr std::array<std::uint64_t, 2> mark_value{0x8f1d6b03c75ea942, 0x41e90ad7b2685c3f};
  std::array<std::uint64_t, 2> mark = mark_value;
  std::uint64_t bytes = 0;  // of the message
  std::uint64_t entry = 0;
  // Where it lies until its sender moves it, which the entry tells: buffers and boards are known again by their
  // numbers.
  std::uint64_t process = 0, buffer = 0, offset = 0;
  std::array<char, 72> board = {};  // handle of the sender's

  // None where a message's bytes are no envelope's.
  static std::optional<Envelope> of(const void* message, std::size_t bytes);
};

// One message on its way, as its sender sees it.
class Offer {
 public:
  // Null where the message goes by MPI instead: its memory is not shared, it is short, the receiver is this process, on
  // another host or nobody, or too much is on its way already.
  static std::unique_ptr<Offer> make(const void* address, std::ptrdiff_t first, std::size_t bytes, int to,
                                     MPI_Comm comm);
  Offer(std::shared_ptr<DeviceMemory> memory, std::size_t entry, const Envelope& envelope);
  ~Offer() { settle(); }
  Offer(const Offer&) = delete;
  Offer& operator=(const Offer&) = delete;

  const Envelope& envelope() const { return envelope_; }
  // Whether the program may use the message's memory again. Does not wait, but moves the message when it was offered
  // for long enough.
  bool settled();
  void settle();

 private:
  std::shared_ptr<DeviceMemory> memory_;
  std::size_t entry_;
  Envelope envelope_;
  std::chrono::steady_clock::time_point until_;  // somebody may take it from where it is
  bool settled_ = false;
};

// What an envelope tells its receiver; ended, the sender may use the memory again. Throws Error when it cannot be
// opened here.
class Taking {
 public:
  // `wanted`: where the message goes; another device when its runtime is not the sender's, or null.
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
