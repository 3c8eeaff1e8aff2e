// Device memory in a window: MPI's separate memory model (MPI 3.1, section 11.4). MPI's window, the public copy, is
// host memory; the device's memory is the private copy.
#pragma once

#include <mutex>

#include "interpose/staging/call.hpp"

namespace plumb::interpose {

// The runs in which `a` and `b`, `size` bytes each, differ, in ascending order.
Runs differing(const std::byte* a, const std::byte* b, std::size_t size);

// A third copy keeps the state of the latest synchronisation: only bytes that differ from it are copied, so that both
// sides may have changed different ones. Memory that the host may access needs no copies. Thread-safe.
class WindowMemory {
 public:
  // Throws Error if the bytes are not all in one buffer, or memory for the copies is exhausted.
  WindowMemory(void* address, std::size_t size);

  void* address() const { return address_; }  // the program's
  std::byte* bytes() const;                   // memory of MPI's window
  bool separate() const { return copies_ != nullptr; }

  // Copies changes by the device to the public copy.
  void publish();
  // Copies changes by others to the device, and no other bytes. `published`: by others since publish() nothing was
  // written, which spares comparing.
  void receive(bool published);

 private:
  struct Copies {
    Staging public_copy;
    Staging latest;  // both at the latest synchronisation
  };
  BufferView view(const Run& run) const;
  void write(const Runs& runs, const std::byte* from);

  void* address_;
  std::size_t size_;
  Place place_;
  std::byte* direct_;                    // null: the host cannot access it
  std::unique_ptr<Copies> copies_ = {};  // null: not needed
  std::mutex mutex_;
};

}  // namespace plumb::interpose
