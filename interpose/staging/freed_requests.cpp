#include "interpose/staging/freed_requests.hpp"

#include <mutex>

namespace plumb::interpose {

namespace {

struct Freed {
  std::mutex mutex;
  std::vector<Request> requests;
};

Freed& freed() {
  static Freed& only = *std::make_unique<Freed>().release();
  return only;
}

bool ended(Request& request, bool waits) {
  MPI_Status status;
  int done = 1;
  if (waits) {
    PMPI_Wait(&request.inner, &status);
    request.call->settle();
  } else {
    PMPI_Test(&request.inner, &done, &status);
    if (done == 0 || !request.call->settled()) return false;
  }
  if (request.receives) request.call->write(status);
  if (request.persistent) PMPI_Request_free(&request.inner);
  return true;
}

}  // namespace

void keep_freed(Request request) {
  end_freed(false);
  const std::scoped_lock lock(freed().mutex);
  freed().requests.push_back(std::move(request));
}

void end_freed(bool until_all) {
  const std::scoped_lock lock(freed().mutex);
  std::erase_if(freed().requests, [&](Request& request) { return ended(request, until_all); });
}

}  // namespace plumb::interpose
