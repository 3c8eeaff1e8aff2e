// Windows that a device has part in on this rank: their memory is a device's, or a call's operand is.
#pragma once

#include <atomic>

#include "interpose/staging/requests.hpp"
#include "interpose/windows/window_memory.hpp"

namespace plumb::interpose {

// Calls on a window that are started, and not complete at their origin: this rank.
using StartedCalls = std::vector<std::shared_ptr<Call>>;

// What they bring goes to the device.
void finish(const StartedCalls& calls);

// Any thread may call it.
class Window {
 public:
  // memory: null where none of a device's lies in it on this rank.
  Window(MPI_Win handle, std::unique_ptr<WindowMemory> memory);

  WindowMemory* memory() const { return memory_.get(); }
  bool is_own(int rank) const { return rank == rank_; }  // a rank of the window's group

  // The owner's synchronisation (MPI 3.1, section 11.7), which does nothing without memory of a device.
  // Its changes to the public copy, unless a fence or a post asserts that there are none; whether it was done.
  bool publish(int assertion = 0);
  // Others' changes to the device; `published` by the same call.
  void receive(bool published = false) {
    if (memory_) memory_->receive(published);
  }
  // A wait or a lock: what was stored before it is not published by it.
  void leave_stores() { published_ = false; }
  // `assertion` of a fence or a post: whether others will write until the fence or wait that follows.
  void expect(int assertion) { unchanged_ = (assertion & MPI_MODE_NOPUT) != 0; }
  bool unchanged() const { return unchanged_; }

  void start(int rank, std::shared_ptr<Call> call);
  // Those aimed at a rank, or all; taken before MPI completes them, for another thread may start more meanwhile.
  StartedCalls take(int rank);
  StartedCalls take_all();

 private:
  struct Started {
    int rank = 0;
    std::shared_ptr<Call> call;
  };

  int rank_ = MPI_PROC_NULL;
  std::unique_ptr<WindowMemory> memory_;
  std::atomic<bool> unchanged_ = false;
  std::atomic<bool> published_ = true;  // by the latest synchronisation
  std::mutex mutex_;
  std::vector<Started> started_;
  std::size_t most_started_ = 64;  // then those that requests have completed are forgotten
};

extern std::atomic<int> windows_known;
std::shared_ptr<Window> find_window(MPI_Win handle);

// Null where no device has part in the window; where in none, this is one load.
inline std::shared_ptr<Window> window_of(MPI_Win handle) {
  return windows_known.load(std::memory_order_relaxed) == 0 ? nullptr : find_window(handle);
}

// A window of memory of a device.
void add_window(MPI_Win handle, std::unique_ptr<WindowMemory> memory);
// Where it is not known yet, it is one whose memory here is the host's.
std::shared_ptr<Window> any_window(MPI_Win handle);
void remove_window(MPI_Win handle);

}  // namespace plumb::interpose
