// Windows in which a device takes part on this rank: through their memory, or an operand of a call.
#pragma once

#include <atomic>

#include "interpose/staging/requests.hpp"
#include "interpose/windows/window_memory.hpp"

namespace plumb::interpose {

// Calls on a window that are incomplete at their origin, this rank.
using StartedCalls = std::vector<std::shared_ptr<Call>>;

// Writes their results to the device.
void finish(const StartedCalls& calls);

// Thread-safe.
class Window {
 public:
  // memory: null if the window's memory on this rank is not a device's.
  Window(MPI_Win handle, std::unique_ptr<WindowMemory> memory);

  WindowMemory* memory() const { return memory_.get(); }
  bool is_own(int rank) const { return rank == rank_; }  // a rank of the window's group

  // Synchronisation by the owner (MPI 3.1, section 11.7); nothing is done if the memory is not a device's. publish()
  // copies the owner's changes to the public copy, unless a fence or a post asserts that there are none; returns
  // whether it did.
  bool publish(int assertion = 0);
  // Copies others' changes to the device; `published`: by the same call.
  void receive(bool published = false) {
    if (memory_) memory_->receive(published);
  }
  // A wait or a lock does not publish earlier stores.
  void leave_stores() { published_ = false; }
  // assertion: of a fence or a post, whether others write until the next fence or wait.
  void expect(int assertion) { unchanged_ = (assertion & MPI_MODE_NOPUT) != 0; }
  bool unchanged() const { return unchanged_; }

  void start(int rank, std::shared_ptr<Call> call);
  // Removes the calls on one rank, or all; before MPI completes them, because another thread may start more meanwhile.
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
  std::size_t most_started_ = 64;  // then calls that requests have completed are removed
};

extern std::atomic<int> windows_known;
std::shared_ptr<Window> find_window(MPI_Win handle);

// Null if no device takes part in the window; one load if none takes part in any.
inline std::shared_ptr<Window> window_of(MPI_Win handle) {
  return windows_known.load(std::memory_order_relaxed) == 0 ? nullptr : find_window(handle);
}

// Adds a window over memory of a device.
void add_window(MPI_Win handle, std::unique_ptr<WindowMemory> memory);
// Adds a window over host memory, if it is not known yet.
std::shared_ptr<Window> any_window(MPI_Win handle);
void remove_window(MPI_Win handle);

}  // namespace plumb::interpose
