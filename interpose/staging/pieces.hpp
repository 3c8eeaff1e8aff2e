// Messages between a device and MPI in pieces, so that the device's copies overlap with MPI (PLUMB_MPI_STAGING=pieces,
// the default). MPI carries an envelope with the message's tag on its communicator, so that MPI matches the messages;
// the pieces follow on a communicator of this library. The sender starts each as soon as it is read from its device
// and, like MPI_Bsend, waits for no receiver: it keeps the pieces until they are taken. The receiver writes each to its
// device while the next ones come.
#pragma once

#include <mpi.h>

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "interpose/memory/devices.hpp"
#include "interpose/peer/offers.hpp"

namespace plumb::interpose {

// Waits for a queue's commands. Without threads of the device on this host, the wait needs no core.
void finish_on(Queue& queue, const OpenDevice& device);

// Collective over all ranks, before the first message; after agree_on_offers().
void begin_pieces();
// Destroys the messages that are taken; until_all: waits for all.
void end_pieces(bool until_all);

// The sender's side of a message.
class Pieces {
 public:
  // Null if the message goes whole: it is short, the receiver is this process, of another world or MPI_PROC_NULL, or
  // too many messages are not taken yet.
  static std::shared_ptr<Pieces> make(const void* address, std::ptrdiff_t first, std::size_t bytes, int to,
                                      MPI_Comm comm);
  Pieces(Place place, const Envelope& envelope, int to);
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  const Envelope& envelope() const { return envelope_; }
  std::size_t bytes() const { return envelope_.bytes; }
  // Reads all pieces from the device, and starts each one's message.
  void start();
  // Whether the sender need not wait any more: all are taken, or it has waited for as long as reading them took.
  bool settled();
  void settle();
  bool taken();

 private:
  void read(std::size_t piece, Queue& queue);
  std::size_t count() const { return (envelope_.bytes + envelope_.piece - 1) / envelope_.piece; }
  std::size_t size_of(std::size_t piece) const {
    return std::min(envelope_.piece, envelope_.bytes - piece * envelope_.piece);
  }

  Place place_;
  Staging staging_;
  Envelope envelope_;
  int to_;
  std::vector<MPI_Request> requests_;
  std::chrono::steady_clock::time_point until_{};
};

// The receiver's side: the pieces of an envelope to their places from `to` on, arrived(offset, bytes) after each.
// yields: whether to leave the core to threads of the device while waiting.
void receive_pieces(const Envelope& envelope, std::byte* to, bool yields,
                    const std::function<void(std::size_t offset, std::size_t bytes)>& arrived);

}  // namespace plumb::interpose
