#include "interpose/windows/window_synchronisation.hpp"

namespace plumb::interpose {

namespace {

// A lock of the owner's own window.
int lock_own(Window& window, const Mpi& mpi) {
  const int code = mpi();
  if (code != MPI_SUCCESS) return code;
  window.receive();
  window.leave_stores();
  return code;
}

// A wait, or a test that succeeded.
void end_exposure(Window& window) {
  if (!window.unchanged()) window.receive();
  window.leave_stores();
}

// `calls` are taken before MPI completes them.
int complete_calls(const StartedCalls& calls, const Mpi& mpi) {
  const int code = mpi();
  if (code == MPI_SUCCESS) finish(calls);
  return code;
}

}  // namespace

int fence(Window& window, int assertion, const Mpi& mpi) {
  const StartedCalls calls = window.take_all();
  const bool published = window.publish(assertion);
  const int code = mpi();
  if (code != MPI_SUCCESS) return code;
  finish(calls);
  if (!window.unchanged()) window.receive(published);
  window.expect(assertion);
  return code;
}

int post(Window& window, int assertion, const Mpi& mpi) {
  window.publish(assertion);
  window.expect(assertion);
  return mpi();
}

int wait(Window& window, const Mpi& mpi) {
  const int code = mpi();
  if (code == MPI_SUCCESS) end_exposure(window);
  return code;
}

int test(Window& window, const int* flag, const Mpi& mpi) {
  const int code = mpi();
  if (code == MPI_SUCCESS && *flag != 0) end_exposure(window);
  return code;
}

int lock(Window& window, int, int rank, int, const Mpi& mpi) {
  return window.is_own(rank) ? lock_own(window, mpi) : mpi();
}

int lock_all(Window& window, int, const Mpi& mpi) {
  return lock_own(window, mpi);
}

int unlock(Window& window, int rank, const Mpi& mpi) {
  return complete_calls(window.take(rank), [&] {
    if (window.is_own(rank)) window.publish();
    return mpi();
  });
}

int unlock_all(Window& window, const Mpi& mpi) {
  return complete_calls(window.take_all(), [&] {
    window.publish();
    return mpi();
  });
}

int flush(Window& window, int rank, const Mpi& mpi) {
  return complete_calls(window.take(rank), mpi);
}

int flush_all(Window& window, const Mpi& mpi) {
  return complete_calls(window.take_all(), mpi);
}

int sync(Window& window, const Mpi& mpi) {
  window.publish();
  const int code = mpi();
  if (code == MPI_SUCCESS) window.receive(true);
  return code;
}

}  // namespace plumb::interpose

using namespace plumb::interpose;

extern "C" {

// After all ranks have called it, nothing is written to this rank's memory.
int MPI_Win_free(MPI_Win* handle) {
  const auto window = window_of(*handle);
  if (!window) [[likely]]
    return PMPI_Win_free(handle);
  return or_abort("MPI_Win_free", [&] {
    const StartedCalls calls = window->take_all();
    remove_window(*handle);
    const int code = PMPI_Win_free(handle);
    if (code != MPI_SUCCESS) return code;
    finish(calls);
    window->receive();
    return code;
  });
}

int MPI_Win_get_attr(MPI_Win handle, int key, void* value, int* flag) {
  const auto window = window_of(handle);
  if (!window || window->memory() == nullptr) [[likely]]
    return PMPI_Win_get_attr(handle, key, value, flag);
  static int model = MPI_WIN_SEPARATE;
  const int code = PMPI_Win_get_attr(handle, key, value, flag);
  if (key == MPI_WIN_BASE) *static_cast<void**>(value) = window->memory()->address();
  if (key == MPI_WIN_MODEL && window->memory()->separate()) *static_cast<int**>(value) = &model;
  return code;
}

}  // extern "C"
