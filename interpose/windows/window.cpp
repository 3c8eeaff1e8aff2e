#include "interpose/windows/window.hpp"

#include <algorithm>
#include <map>
#include <shared_mutex>

namespace plumb::interpose {

namespace {

int rank_in_group(MPI_Win handle) {
  MPI_Group group = MPI_GROUP_NULL;
  int rank = MPI_PROC_NULL;
  PMPI_Win_get_group(handle, &group);
  PMPI_Group_rank(group, &rank);
  PMPI_Group_free(&group);
  return rank;
}

struct Windows {
  std::shared_mutex mutex;
  std::map<MPI_Win, std::shared_ptr<Window>> known;
};

Windows& windows() {
  static Windows& only = *std::make_unique<Windows>().release();
  return only;
}

}  // namespace

void finish(const StartedCalls& calls) {
  for (const auto& call : calls) call->write({});
}

Window::Window(MPI_Win handle, std::unique_ptr<WindowMemory> memory)
    : rank_(rank_in_group(handle)), memory_(std::move(memory)) {}

// MPI_MODE_NOSTORE refers to the time since the latest synchronisation, which may have left earlier stores unpublished.
bool Window::publish(int assertion) {
  if (!memory_ || ((assertion & MPI_MODE_NOSTORE) != 0 && published_)) return false;
  memory_->publish();
  published_ = true;
  return true;
}

void Window::start(int rank, std::shared_ptr<Call> call) {
  const std::scoped_lock lock(mutex_);
  if (started_.size() >= most_started_) {
    std::erase_if(started_, [](const Started& started) { return started.call->done(); });
    most_started_ = std::max(most_started_, 2 * started_.size());
  }
  started_.push_back({rank, std::move(call)});
}

StartedCalls Window::take(int rank) {
  const std::scoped_lock lock(mutex_);
  StartedCalls taken;
  for (const Started& started : started_)
    if (started.rank == rank) taken.push_back(started.call);
  std::erase_if(started_, [&](const Started& started) { return started.rank == rank; });
  return taken;
}

StartedCalls Window::take_all() {
  const std::scoped_lock lock(mutex_);
  StartedCalls taken;
  for (const Started& started : started_) taken.push_back(started.call);
  started_.clear();
  return taken;
}

std::atomic<int> windows_known = 0;

std::shared_ptr<Window> find_window(MPI_Win handle) {
  const std::shared_lock lock(windows().mutex);
  const auto found = windows().known.find(handle);
  return found == windows().known.end() ? nullptr : found->second;
}

void add_window(MPI_Win handle, std::unique_ptr<WindowMemory> memory) {
  auto window = std::make_shared<Window>(handle, std::move(memory));
  const std::scoped_lock lock(windows().mutex);
  if (windows().known.emplace(handle, std::move(window)).second) ++windows_known;
}

std::shared_ptr<Window> any_window(MPI_Win handle) {
  std::shared_ptr<Window> known = window_of(handle);
  if (known) return known;
  add_window(handle, nullptr);  // unless another thread has added it
  return find_window(handle);
}

void remove_window(MPI_Win handle) {
  const std::scoped_lock lock(windows().mutex);
  windows_known -= static_cast<int>(windows().known.erase(handle));
}

}  // namespace plumb::interpose
