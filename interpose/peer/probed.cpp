#include "interpose/peer/probed.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "interpose/peer/offers.hpp"

namespace plumb::interpose {

namespace {

MPI_Comm own_process = MPI_COMM_NULL;

class ProbedMessages {
 public:
  void keep(ProbedMessage message) {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(message));
    ++count_;
  }
  std::optional<ProbedMessage> look(int from, int tag, MPI_Comm comm) {
    if (count_ == 0) return {};
    const std::scoped_lock lock(mutex_);
    const auto found = find(from, tag, comm);
    return found == waiting_.end() ? std::nullopt : std::optional(*found);
  }
  std::optional<ProbedMessage> take(int from, int tag, MPI_Comm comm) {
    if (count_ == 0) return {};
    const std::scoped_lock lock(mutex_);
    const auto found = find(from, tag, comm);
    if (found == waiting_.end()) return {};
    ProbedMessage result = std::move(*found);
    waiting_.erase(found);
    --count_;
    return result;
  }

  bool any() const { return count_ != 0; }

  MPI_Message hand_out(ProbedMessage message) {
    const std::scoped_lock lock(mutex_);
    MPI_Message handle = MPI_MESSAGE_NULL;
    end_received();
    PMPI_Isend(nullptr, 0, MPI_BYTE, 0, 0, own_process, &sent_.emplace_back(MPI_REQUEST_NULL));
    PMPI_Mprobe(0, 0, own_process, &handle, MPI_STATUS_IGNORE);
    matched_.emplace_back(handle, std::move(message));
    ++count_;
    return handle;
  }
  std::optional<ProbedMessage> take(MPI_Message handle) {
    if (count_ == 0) return {};
    const std::scoped_lock lock(mutex_);
    const auto found =
        std::find_if(matched_.begin(), matched_.end(), [&](const auto& matched) { return matched.first == handle; });
    if (found == matched_.end()) return {};
    ProbedMessage result = std::move(found->second);
    matched_.erase(found);
    --count_;
    return result;
  }

 private:
  std::deque<ProbedMessage>::iterator find(int from, int tag, MPI_Comm comm) {
    return std::find_if(waiting_.begin(), waiting_.end(), [&](const ProbedMessage& message) {
      return message.comm == comm && (from == MPI_ANY_SOURCE || from == message.source) &&
             (tag == MPI_ANY_TAG || tag == message.tag);
    });
  }

  // Completes the sends whose messages have been received. (MPICH 4.0 fails if they are freed before.)
  void end_received() {
    for (MPI_Request& sent : sent_) {
      int done = 0;
      PMPI_Test(&sent, &done, MPI_STATUS_IGNORE);
    }
    sent_.erase(std::remove(sent_.begin(), sent_.end(), MPI_REQUEST_NULL), sent_.end());
  }

  std::mutex mutex_;
  std::vector<MPI_Request> sent_;
  std::atomic<std::size_t> count_ = 0;
  std::deque<ProbedMessage> waiting_;
  std::vector<std::pair<MPI_Message, ProbedMessage>> matched_;
};

ProbedMessages& messages() {
  static ProbedMessages& only = *std::make_unique<ProbedMessages>().release();
  return only;
}

// -1 if MPI cannot tell.
int bytes_of(const MPI_Status& status) {
  int bytes = 0;
  PMPI_Get_count(&status, MPI_PACKED, &bytes);
  return bytes == MPI_UNDEFINED ? -1 : bytes;
}

bool may_be_envelope(const MPI_Status& status) {
  return bytes_of(status) == static_cast<int>(sizeof(Envelope));
}

ProbedMessage receive(MPI_Message& message, MPI_Comm comm, const MPI_Status& status) {
  ProbedMessage result{comm, status.MPI_SOURCE, status.MPI_TAG, std::vector<std::byte>(sizeof(Envelope))};
  if (const int bytes = bytes_of(status); bytes >= 0) result.content.resize(static_cast<std::size_t>(bytes));
  PMPI_Mrecv(result.content.data(), static_cast<int>(result.content.size()), MPI_PACKED, &message, MPI_STATUS_IGNORE);
  return result;
}

// Keeps the next message with this tag from `source`, and those sent before it, so that none is overtaken. Fewer if
// another thread receives it.
void keep_up_to(int source, int tag, MPI_Comm comm) {
  for (bool is_last = false; !is_last;) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    PMPI_Improbe(source, MPI_ANY_TAG, comm, &found, &message, &status);
    is_last = found == 0 || status.MPI_TAG == tag;
    if (found != 0) messages().keep(receive(message, comm, status));
  }
}

// The caller's status, or one of its own if the caller ignores it.
class FilledStatus {
 public:
  explicit FilledStatus(MPI_Status* wanted) : status_(wanted == MPI_STATUS_IGNORE ? &own_ : wanted) {}
  FilledStatus(const FilledStatus&) = delete;
  FilledStatus& operator=(const FilledStatus&) = delete;
  MPI_Status& operator*() { return *status_; }

 private:
  MPI_Status own_{};
  MPI_Status* status_;
};

}  // namespace

void begin_probing() {
  PMPI_Comm_dup(MPI_COMM_SELF, &own_process);
}

void ProbedMessage::describe(MPI_Status& status) const {
  const auto envelope = Envelope::of(content.data(), content.size());
  status.MPI_SOURCE = source;
  status.MPI_TAG = tag;
  PMPI_Status_set_elements_x(&status, MPI_BYTE, static_cast<MPI_Count>(envelope ? envelope->bytes : content.size()));
  PMPI_Status_set_cancelled(&status, 0);
}

int probe_offered(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  FilledStatus filled(status);
  for (;;) {
    int found = 1;
    if (const auto here = messages().look(from, tag, comm)) {
      here->describe(*filled);
      if (flag != nullptr) *flag = found;
      return MPI_SUCCESS;
    }
    const int code =
        flag == nullptr ? PMPI_Probe(from, tag, comm, &*filled) : PMPI_Iprobe(from, tag, comm, &found, &*filled);
    if (code != MPI_SUCCESS || found == 0 || !may_be_envelope(*filled)) {
      if (flag != nullptr) *flag = found;
      return code;
    }
    keep_up_to((*filled).MPI_SOURCE, (*filled).MPI_TAG, comm);
  }
}

int match_offered(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  FilledStatus filled(status);
  int found = 1;
  auto here = messages().take(from, tag, comm);
  if (!here) {
    const int code = flag == nullptr ? PMPI_Mprobe(from, tag, comm, message, &*filled)
                                     : PMPI_Improbe(from, tag, comm, &found, message, &*filled);
    if (flag != nullptr) *flag = found;
    if (code != MPI_SUCCESS || found == 0 || !may_be_envelope(*filled)) return code;
    here = receive(*message, comm, *filled);
  }
  if (flag != nullptr) *flag = found;
  here->describe(*filled);
  *message = messages().hand_out(std::move(*here));
  return MPI_SUCCESS;
}

bool any_probed() {
  return messages().any();
}

bool may_be_offered(std::size_t room) {
  return offers_on && (peer_on || room >= pieces_from || any_probed());
}

bool may_be_offered(int count, MPI_Datatype type) {
  if (!offers_on) return false;
  MPI_Count bytes = 0;
  if (!peer_on) PMPI_Type_size_x(type, &bytes);
  return may_be_offered(static_cast<std::size_t>(bytes) * static_cast<std::size_t>(std::max(count, 0)));
}

std::optional<ProbedMessage> take_probed(int from, int tag, MPI_Comm comm) {
  return messages().take(from, tag, comm);
}

std::optional<ProbedMessage> take_probed(MPI_Message message) {
  return messages().take(message);
}

}  // namespace plumb::interpose
