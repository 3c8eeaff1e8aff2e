// Device memory that other ranks reach through a window: MPI's separate memory model (MPI 3.1, section 11.4). MPI's
// window lies on memory of the host, the public copy; the device's memory is the private copy.
#pragma once

#include <mutex>

#include "interpose/staging/call.hpp"

namespace plumb::interpose {

// Where `a` and `b`, `size` bytes each, differ, in ascending order.
Runs differing(const std::byte* a, const std::byte* b, std::size_t size);

// What either copy has that the other lacks is told by a third, the state when they last met: only bytes that differ
// from it go over, so that both may have changed different ones. Memory that the host may use where it is needs no
// copies. Any thread may call it.
class WindowMemory {
 public:
  // Throws Error when the bytes are no buffer's, or reach past its end, or there is no room for the copies.
  WindowMemory(void* address, std::size_t size);

  void* address() const { return address_; }  // the program's
  std::byte* bytes() const;                   // what MPI's window lies on
  bool separate() const { return copies_ != nullptr; }

  // What the device has changed goes to the public copy.
  void publish();
  // What others have changed goes to the device, whose other bytes stay as they are. `published`: nobody has written
  // there since publish(), which spares looking.
  void receive(bool published);

 private:
  struct Copies {
    Staging open;  // the public one
    Staging met;   // what both were when they last met
  };
  BufferView view(const Run& run) const;
  void write(const Runs& runs, const std::byte* from);

  void* address_;
  std::size_t size_;
  Place place_;
  std::byte* direct_;                    // null: the host cannot use it where it is
  std::unique_ptr<Copies> copies_ = {};  // null: none are needed
  std::mutex mutex_;
};

}  // namespace plumb::interpose
