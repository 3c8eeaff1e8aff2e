// Making windows and ending them, and what synchronises them: MPI's own, between which the owner's copies are brought
// together and what calls have brought goes to the device.
#include "interpose/windows/window.hpp"

using namespace plumb::interpose;

namespace {

// A lock of the owner's own window.
template <class Lock>
int lock_own(const char* name, Window& window, Lock&& lock) {
  return or_abort(name, [&] {
    const int code = lock();
    if (code != MPI_SUCCESS) return code;
    window.receive();
    window.leave_stores();
    return code;
  });
}

// A wait, or a test that succeeded.
void end_exposure(Window& window) {
  if (!window.unchanged()) window.receive();
  window.leave_stores();
}

// complete() completes calls that are taken before.
template <class Complete>
int complete_calls(const char* name, const StartedCalls& calls, Complete&& complete) {
  return or_abort(name, [&] {
    const int code = complete();
    if (code == MPI_SUCCESS) finish(calls);
    return code;
  });
}

}  // namespace

extern "C" {

// When all have called it, nobody writes to this rank's memory any more.
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

int MPI_Win_fence(int assertion, MPI_Win handle) {
  const auto window = window_of(handle);
  if (!window) [[likely]]
    return PMPI_Win_fence(assertion, handle);
  return or_abort("MPI_Win_fence", [&] {
    const StartedCalls calls = window->take_all();
    const bool published = window->publish(assertion);
    const int code = PMPI_Win_fence(assertion, handle);
    if (code != MPI_SUCCESS) return code;
    finish(calls);
    if (!window->unchanged()) window->receive(published);
    window->expect(assertion);
    return code;
  });
}

int MPI_Win_post(MPI_Group group, int assertion, MPI_Win handle) {
  const auto window = window_of(handle);
  if (!window) [[likely]]
    return PMPI_Win_post(group, assertion, handle);
  return or_abort("MPI_Win_post", [&] {
    window->publish(assertion);
    window->expect(assertion);
    return PMPI_Win_post(group, assertion, handle);
  });
}

int MPI_Win_complete(MPI_Win handle) {
  const auto window = window_of(handle);
  if (!window) [[likely]]
    return PMPI_Win_complete(handle);
  return complete_calls("MPI_Win_complete", window->take_all(), [&] { return PMPI_Win_complete(handle); });
}

int MPI_Win_wait(MPI_Win handle) {
  const auto window = window_of(handle);
  if (!window) [[likely]]
    return PMPI_Win_wait(handle);
  return or_abort("MPI_Win_wait", [&] {
    const int code = PMPI_Win_wait(handle);
    if (code == MPI_SUCCESS) end_exposure(*window);
    return code;
  });
}

int MPI_Win_test(MPI_Win handle, int* flag) {
  const auto window = window_of(handle);
  if (!window) [[likely]]
    return PMPI_Win_test(handle, flag);
  return or_abort("MPI_Win_test", [&] {
    const int code = PMPI_Win_test(handle, flag);
    if (code == MPI_SUCCESS && *flag != 0) end_exposure(*window);
    return code;
  });
}

int MPI_Win_lock(int kind, int rank, int assertion, MPI_Win handle) {
  const auto window = window_of(handle);
  if (!window || !window->is_own(rank)) [[likely]]
    return PMPI_Win_lock(kind, rank, assertion, handle);
  return lock_own("MPI_Win_lock", *window, [&] { return PMPI_Win_lock(kind, rank, assertion, handle); });
}

int MPI_Win_lock_all(int assertion, MPI_Win handle) {
  const auto window = window_of(handle);
  if (!window) [[likely]]
    return PMPI_Win_lock_all(assertion, handle);
  return lock_own("MPI_Win_lock_all", *window, [&] { return PMPI_Win_lock_all(assertion, handle); });
}

int MPI_Win_unlock(int rank, MPI_Win handle) {
  const auto window = window_of(handle);
  if (!window) [[likely]]
    return PMPI_Win_unlock(rank, handle);
  return complete_calls("MPI_Win_unlock", window->take(rank), [&] {
    if (window->is_own(rank)) window->publish();
    return PMPI_Win_unlock(rank, handle);
  });
}

int MPI_Win_unlock_all(MPI_Win handle) {
  const auto window = window_of(handle);
  if (!window) [[likely]]
    return PMPI_Win_unlock_all(handle);
  return complete_calls("MPI_Win_unlock_all", window->take_all(), [&] {
    window->publish();
    return PMPI_Win_unlock_all(handle);
  });
}

int MPI_Win_flush(int rank, MPI_Win handle) {
  const auto window = window_of(handle);
  if (!window) [[likely]]
    return PMPI_Win_flush(rank, handle);
  return complete_calls("MPI_Win_flush", window->take(rank), [&] { return PMPI_Win_flush(rank, handle); });
}

int MPI_Win_flush_local(int rank, MPI_Win handle) {
  const auto window = window_of(handle);
  if (!window) [[likely]]
    return PMPI_Win_flush_local(rank, handle);
  return complete_calls("MPI_Win_flush_local", window->take(rank), [&] { return PMPI_Win_flush_local(rank, handle); });
}

int MPI_Win_flush_all(MPI_Win handle) {
  const auto window = window_of(handle);
  if (!window) [[likely]]
    return PMPI_Win_flush_all(handle);
  return complete_calls("MPI_Win_flush_all", window->take_all(), [&] { return PMPI_Win_flush_all(handle); });
}

int MPI_Win_flush_local_all(MPI_Win handle) {
  const auto window = window_of(handle);
  if (!window) [[likely]]
    return PMPI_Win_flush_local_all(handle);
  return complete_calls("MPI_Win_flush_local_all", window->take_all(),
                        [&] { return PMPI_Win_flush_local_all(handle); });
}

int MPI_Win_sync(MPI_Win handle) {
  const auto window = window_of(handle);
  if (!window) [[likely]]
    return PMPI_Win_sync(handle);
  return or_abort("MPI_Win_sync", [&] {
    window->publish();
    const int code = PMPI_Win_sync(handle);
    if (code == MPI_SUCCESS) window->receive(true);
    return code;
  });
}

}  // extern "C"
