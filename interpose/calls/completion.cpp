// Start, completion and release of requests. Requests without device memory are left to MPI.
#include <algorithm>
#include <utility>
#include <vector>

#include "interpose/staging/freed_requests.hpp"
#include "transport/idle.hpp"

namespace plumb::interpose {

namespace {

bool any_own(int count, const MPI_Request* requests) {
  return std::any_of(requests, requests + count, [](MPI_Request request) { return is_own(request); });
}

// MPI has completed the inner request: received data begins to go to the device. code: of this request.
void bring(Request& request, const MPI_Status& status, int code) {
  if (request.under_way && code == MPI_SUCCESS) request.call->start_write(status);
  request.under_way = false;
}

// The same, and the data is there afterwards. The inner request is null now unless persistent.
void complete(MPI_Request* handle, MPI_Request inner, MPI_Status& status, int code) {
  Request& request = own_request(*handle);
  bring(request, status, code);
  request.call->finish_write();
  request.call->correct(status);
  request.call->settle();
  request.inner = request.set_aside == MPI_REQUEST_NULL ? inner : std::exchange(request.set_aside, MPI_REQUEST_NULL);
  if (request.persistent) return;
  retire(*handle);
  *handle = MPI_REQUEST_NULL;
}

// A list of requests as passed to MPI.
class Mixture {
 public:
  Mixture(int count, MPI_Request* handles)
      : inner_(handles, handles + count), offered_(inner_.size()), given_(handles) {
    for (std::size_t i = 0; i < inner_.size(); ++i)
      if (is_own(inner_[i])) {
        const Request& request = own_request(inner_[i]);
        offered_[i] = request.call->offers();
        inner_[i] = request.inner;
      }
  }
  int count() const { return static_cast<int>(inner_.size()); }
  MPI_Request* inner() { return inner_.data(); }

  // MPI has completed request number `at`.
  void completed(int at, MPI_Status& status, int code) {
    if (is_own(given_[at]))
      complete(&given_[at], inner_[static_cast<std::size_t>(at)], status, code);
    else
      given_[at] = inner_[static_cast<std::size_t>(at)];
  }
  // MPI has completed all, or those whose status has no pending error: all of their data goes to the device at once.
  // Offered messages come last: their receivers may wait for messages that they offer to this process.
  void all_completed(MPI_Status* statuses, int code) {
    const auto code_of = [&](int i) { return code == MPI_ERR_IN_STATUS ? statuses[i].MPI_ERROR : code; };
    for (int i = 0; i < count(); ++i)
      if (is_own(given_[i]) && code_of(i) != MPI_ERR_PENDING) bring(own_request(given_[i]), statuses[i], code_of(i));
    for (const bool offers : {false, true})
      for (int i = 0; i < count(); ++i)
        if (code_of(i) != MPI_ERR_PENDING && offered_[static_cast<std::size_t>(i)] == offers)
          completed(i, statuses[i], code_of(i));
  }
  // Whether take_arrived() may have something to do.
  bool may_take() const {
    return std::any_of(given_, given_ + inner_.size(), [](MPI_Request request) {
      return is_own(request) && own_request(request).under_way && own_request(request).call->may_take_offered();
    });
  }
  // Takes messages in pieces and offers that have come, in the order of the list up to the first that has not: their
  // senders still start others meanwhile. A sender waits for its offer's copy, so one that has ended is reported at
  // once.
  void take_arrived() {
    std::erase_if(under_way_, [](Call* call) { return call->write_finished(); });
    for (; arrived_ < count(); ++arrived_) {
      if (!is_own(given_[arrived_])) continue;
      Request& request = own_request(given_[arrived_]);
      if (!request.under_way || !request.receives || !request.call->may_take_offered()) continue;
      int done = 0;
      MPI_Status status{};
      status.MPI_ERROR = MPI_SUCCESS;
      if (PMPI_Request_get_status(request.inner, &done, &status) != MPI_SUCCESS || done == 0) return;
      if (status.MPI_ERROR != MPI_SUCCESS) return;
      bring(request, status, MPI_SUCCESS);
      under_way_.push_back(request.call.get());
    }
  }
  bool yields() const {
    return std::any_of(given_, given_ + inner_.size(),
                       [](MPI_Request request) { return is_own(request) && own_request(request).call->yields(); });
  }
  // Whether the memory of all offered messages may be reused.
  bool settled() {
    return std::all_of(given_, given_ + count(),
                       [](MPI_Request request) { return !is_own(request) || own_request(request).call->settled(); });
  }
  void settle() {
    for (int i = 0; i < count(); ++i)
      if (is_own(given_[i])) own_request(given_[i]).call->settle();
  }

 private:
  std::vector<MPI_Request> inner_;
  std::vector<bool> offered_;
  MPI_Request* given_;
  int arrived_ = 0;               // taken up to here
  std::vector<Call*> under_way_;  // taken, and perhaps still copied
};

// The caller's statuses, or its own if the caller ignores them.
class Statuses {
 public:
  Statuses(int count, MPI_Status* wanted) : wanted_(wanted) {
    if (wanted == MPI_STATUSES_IGNORE) own_.resize(static_cast<std::size_t>(count));
  }
  MPI_Status* data() { return own_.empty() ? wanted_ : own_.data(); }

 private:
  std::vector<MPI_Status> own_;
  MPI_Status* wanted_;
};

// Polls with test(flag) if asked to, and if the device's threads need the core (yields), otherwise calls wait().
template <class Wait, class Test>
int wait_by(bool polls, bool yields, Wait wait, Test test) {
  if (!polls && !yields) return wait();
  Idle idle(yields);
  for (;;) {
    int flag = 0;
    const int code = test(&flag);
    if (code != MPI_SUCCESS || flag != 0) return code;
    idle.look();
  }
}

// Lets MPI make progress; nothing is complete yet.
int carry_on(int* flag) {
  *flag = 0;
  int unused = 0;
  return PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &unused, MPI_STATUS_IGNORE);
}

int start(Request& request) {
  request.call->read();
  request.under_way = true;
  if (!offers_on || !request.receives || !request.call->takes_probed()) return PMPI_Start(&request.inner);
  request.set_aside = request.inner;
  return PMPI_Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request.inner);
}

// MPI_Waitsome and MPI_Testsome.
template <auto some>
int some_by(const char* name, int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  if (!any_own(count, requests)) [[likely]]
    return some(count, requests, completed, indices, statuses);
  return or_abort(name, [&] {
    Mixture mixture(count, requests);
    mixture.settle();
    Statuses filled(count, statuses);
    const int code = some(count, mixture.inner(), completed, indices, filled.data());
    for (int i = 0; i < *completed; ++i)
      mixture.completed(indices[i], filled.data()[i], code == MPI_ERR_IN_STATUS ? filled.data()[i].MPI_ERROR : code);
    return code;
  });
}

[[noreturn]] void refuse(const char* call, const Request& request, const char* what) {
  abort_call(call, std::string("the request of ") + request.call->name() + " on device memory " + what);
}

}  // namespace

}  // namespace plumb::interpose

using namespace plumb::interpose;

extern "C" {

int MPI_Start(MPI_Request* request) {
  if (!is_own(*request)) [[likely]]
    return PMPI_Start(request);
  return or_abort("MPI_Start", [&] { return start(own_request(*request)); });
}

int MPI_Startall(int count, MPI_Request* requests) {
  if (!any_own(count, requests)) [[likely]]
    return PMPI_Startall(count, requests);
  return or_abort("MPI_Startall", [&] {
    for (int i = 0; i < count; ++i)
      if (const int code = MPI_Start(&requests[i]); code != MPI_SUCCESS) return code;
    return MPI_SUCCESS;
  });
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (!is_own(*request)) [[likely]]
    return PMPI_Wait(request, status);
  return or_abort("MPI_Wait", [&] {
    Statuses statuses(1, status);
    MPI_Request inner = own_request(*request).inner;
    const int code = wait_by(
        false, own_request(*request).call->yields(), [&] { return PMPI_Wait(&inner, statuses.data()); },
        [&](int* flag) { return PMPI_Test(&inner, flag, statuses.data()); });
    complete(request, inner, *statuses.data(), code);
    return code;
  });
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (!is_own(*request)) [[likely]]
    return PMPI_Test(request, flag, status);
  return or_abort("MPI_Test", [&] {
    if (!own_request(*request).call->settled()) return carry_on(flag);
    Statuses statuses(1, status);
    MPI_Request inner = own_request(*request).inner;
    const int code = PMPI_Test(&inner, flag, statuses.data());
    if (code != MPI_SUCCESS || *flag != 0) complete(request, inner, *statuses.data(), code);
    return code;
  });
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  if (!any_own(count, requests)) [[likely]]
    return PMPI_Waitall(count, requests, statuses);
  return or_abort("MPI_Waitall", [&] {
    Mixture mixture(count, requests);
    Statuses filled(count, statuses);
    const bool takes = offers_on && mixture.may_take();
    const int code = wait_by(
        takes, mixture.yields(), [&] { return PMPI_Waitall(count, mixture.inner(), filled.data()); },
        [&](int* flag) {
          if (takes) mixture.take_arrived();
          return PMPI_Testall(count, mixture.inner(), flag, filled.data());
        });
    mixture.all_completed(filled.data(), code);
    return code;
  });
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  if (!any_own(count, requests)) [[likely]]
    return PMPI_Testall(count, requests, flag, statuses);
  return or_abort("MPI_Testall", [&] {
    Mixture mixture(count, requests);
    if (!mixture.settled()) return carry_on(flag);
    Statuses filled(count, statuses);
    const int code = PMPI_Testall(count, mixture.inner(), flag, filled.data());
    if (code != MPI_SUCCESS || *flag != 0) mixture.all_completed(filled.data(), code);
    return code;
  });
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  if (!any_own(count, requests)) [[likely]]
    return PMPI_Waitany(count, requests, index, status);
  return or_abort("MPI_Waitany", [&] {
    Mixture mixture(count, requests);
    mixture.settle();
    Statuses filled(1, status);
    const int code = PMPI_Waitany(count, mixture.inner(), index, filled.data());
    if (*index != MPI_UNDEFINED) mixture.completed(*index, *filled.data(), code);
    return code;
  });
}

int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  if (!any_own(count, requests)) [[likely]]
    return PMPI_Testany(count, requests, index, flag, status);
  return or_abort("MPI_Testany", [&] {
    Mixture mixture(count, requests);
    mixture.settle();
    Statuses filled(1, status);
    const int code = PMPI_Testany(count, mixture.inner(), index, flag, filled.data());
    if (*flag != 0 && *index != MPI_UNDEFINED) mixture.completed(*index, *filled.data(), code);
    return code;
  });
}

int MPI_Waitsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  return some_by<PMPI_Waitsome>("MPI_Waitsome", count, requests, completed, indices, statuses);
}

int MPI_Testsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  return some_by<PMPI_Testsome>("MPI_Testsome", count, requests, completed, indices, statuses);
}

// After the request is reported complete, its buffer may be used: received data must be there, written once.
int MPI_Request_get_status(MPI_Request handle, int* flag, MPI_Status* status) {
  if (!is_own(handle)) [[likely]]
    return PMPI_Request_get_status(handle, flag, status);
  return or_abort("MPI_Request_get_status", [&] {
    Request& request = own_request(handle);
    if (!request.call->settled()) return carry_on(flag);
    Statuses statuses(1, status);
    const int code = PMPI_Request_get_status(request.inner, flag, statuses.data());
    if (code == MPI_SUCCESS && *flag != 0) {
      if (request.under_way) request.call->write(*statuses.data());
      request.call->correct(*statuses.data());
      request.under_way = false;
    }
    return code;
  });
}

int MPI_Request_free(MPI_Request* handle) {
  if (!is_own(*handle)) [[likely]]
    return PMPI_Request_free(handle);
  return or_abort("MPI_Request_free", [&] {
    Request& request = own_request(*handle);
    // Data that arrives later would never be written to the device.
    if (request.under_way && request.call->brings())
      refuse("MPI_Request_free", request, "cannot be freed before it is complete; use MPI_Wait");
    int code = MPI_SUCCESS;
    if (request.under_way)
      keep_freed(std::move(request));
    else
      code = PMPI_Request_free(&request.inner);
    retire(*handle);
    *handle = MPI_REQUEST_NULL;
    return code;
  });
}

int MPI_Cancel(MPI_Request* handle) {
  if (!is_own(*handle)) [[likely]]
    return PMPI_Cancel(handle);
  return or_abort("MPI_Cancel", [&]() -> int {
    Request& request = own_request(*handle);
    if (request.receives && !request.call->brings()) return PMPI_Cancel(&request.inner);
    refuse("MPI_Cancel", request, "cannot be cancelled; complete it with a matching message");
  });
}

// In brackets: MPICH also defines macros of these names.
MPI_Fint(MPI_Request_c2f)(MPI_Request handle) {
  return is_own(handle) ? integer_of(handle) : PMPI_Request_c2f(handle);
}

MPI_Request(MPI_Request_f2c)(MPI_Fint integer) {
  return is_own_integer(integer) ? request_of(integer) : PMPI_Request_f2c(integer);
}

}  // extern "C"
