#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "operations.hpp"
#include "parts.hpp"
#include "plumb_mpi.h"

namespace plumb::stress {

namespace {

// Sends to the rank that is `shift` further, receives from the one that is as far behind.
struct Neighbours {
  Neighbours(Random& random, MPI_Comm its_comm) : comm(its_comm) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int shift = random.between(0, size - 1);
    to = (rank + shift) % size;
    from = (rank + size - shift) % size;
  }
  MPI_Comm comm;
  int rank = 0, size = 1, to = 0, from = 0;
};

// One message: its content, and its destination, which may be larger.
struct Message {
  Type type;
  int count, room;
  bool as_basics;       // received as elements of the basic type, or
  bool sent_as_basics;  // sent so
  std::ptrdiff_t from_at, to_at;

  MPI_Datatype send_type() const { return sent_as_basics ? type.basic() : type.handle(); }
  int send_count() const { return sent_as_basics ? count * type.basics() : count; }

  MPI_Datatype receive_type() const { return as_basics ? type.basic() : type.handle(); }
  int receive_count() const { return as_basics ? room * type.basics() : room; }
};

// Messages that share no byte, in slices of the memory.
std::vector<Message> random_messages(Random& random, const Memory& memory, int most) {
  std::vector<Message> messages;
  const int slices = random.between(1, most);
  const auto slice = static_cast<std::ptrdiff_t>(memory.size) / slices;
  for (int i = 0; i < slices; ++i) {
    Type type = random_type(random);
    const int room = fitting(random, type, slice);
    const int count = random.chance(70) ? room : random.between(0, room);
    const bool as_basics = type.basic() != MPI_DATATYPE_NULL && random.chance(30);
    const bool sent_as_basics = type.basic() != MPI_DATATYPE_NULL && !as_basics && random.chance(30);
    std::ptrdiff_t from_at = i * slice + place(random, type, room, slice);
    std::ptrdiff_t to_at = i * slice + place(random, type, room, slice);
    if (as_basics) to_at = i * slice;
    if (sent_as_basics) from_at = i * slice;
    messages.push_back({std::move(type), count, room, as_basics, sent_as_basics, from_at, to_at});
  }
  return messages;
}

void see(std::vector<int>& seen, const MPI_Status& status, MPI_Datatype type) {
  int count = 0, elements = 0;
  MPI_Get_count(&status, type, &count);
  MPI_Get_elements(&status, type, &elements);
  seen.insert(seen.end(), {status.MPI_SOURCE, status.MPI_TAG, count, elements});
}

using Sender = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
using Starter = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

// Every form of completion; statuses in the order of the requests.
std::vector<MPI_Status> complete(Random& random, std::vector<MPI_Request>& requests) {
  const int count = static_cast<int>(requests.size());
  std::vector<MPI_Status> statuses(requests.size()), some(requests.size());
  std::vector<int> indices(requests.size());
  int flag = 0, index = 0, done = 0;
  switch (random.between(0, 8)) {
    case 0:
      MPI_Waitall(count, requests.data(), statuses.data());
      return statuses;
    case 1:
      while (flag == 0) MPI_Testall(count, requests.data(), &flag, statuses.data());
      return statuses;
    case 2:
      for (std::size_t i = 0; i < requests.size(); ++i) MPI_Wait(&requests[i], &statuses[i]);
      return statuses;
    case 3:
      for (std::size_t i = requests.size(); i-- > 0; flag = 0)
        while (flag == 0) MPI_Test(&requests[i], &flag, &statuses[i]);
      return statuses;
    case 4:
      for (int i = 0; i < count; ++i) {
        MPI_Waitany(count, requests.data(), &index, some.data());
        statuses[static_cast<std::size_t>(index)] = some[0];
      }
      return statuses;
    case 5:
      for (int i = 0; i < count; ++i) {
        for (flag = 0; flag == 0;) MPI_Testany(count, requests.data(), &index, &flag, some.data());
        statuses[static_cast<std::size_t>(index)] = some[0];
      }
      return statuses;
    case 6:
    case 7: {
      const bool waits = random.chance(50);
      for (int all = 0; all < count; all += done) {
        if (waits)
          MPI_Waitsome(count, requests.data(), &done, indices.data(), some.data());
        else
          MPI_Testsome(count, requests.data(), &done, indices.data(), some.data());
        for (std::size_t i = 0; i < static_cast<std::size_t>(done); ++i)
          statuses[static_cast<std::size_t>(indices[i])] = some[i];
      }
      return statuses;
    }
    default:
      for (std::size_t i = 0; i < requests.size(); ++i, flag = 0) {
        while (flag == 0) MPI_Request_get_status(requests[i], &flag, &statuses[i]);
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      }
      return statuses;
  }
}

}  // namespace

// Blocking sends of each mode, to receives that wait already.
std::vector<int> blocking(Random& random, MPI_Comm comm, const Memory& memory) {
  const Neighbours at(random, comm);
  constexpr std::array<Sender, 4> senders{MPI_Send, MPI_Ssend, MPI_Rsend, MPI_Bsend};
  // MPICH 4.0 truncates messages of derived types that it packed itself, from some KiB on.
  const Sender send = senders[static_cast<std::size_t>(random.between(0, over_mpich() ? 2 : 3))];
  std::vector<int> seen;
  std::vector<std::byte> attached(memory.size + 4096);
  MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size()));
  for (const Message& message : random_messages(random, memory, 3)) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int tag = random.between(0, 99);
    const bool any = random.chance(30);
    MPI_Irecv(memory.to + message.to_at, message.receive_count(), message.receive_type(),
              any ? MPI_ANY_SOURCE : at.from, any ? MPI_ANY_TAG : tag, comm, &request);
    MPI_Barrier(comm);
    send(memory.from + message.from_at, message.send_count(), message.send_type(), at.to, tag, comm);
    std::vector<MPI_Request> requests{request};
    see(seen, complete(random, requests)[0], message.receive_type());
    MPI_Barrier(comm);
  }
  void* detached = nullptr;
  int size = 0;
  MPI_Buffer_detach(static_cast<void*>(&detached), &size);
  return seen;
}

std::vector<int> nonblocking(Random& random, MPI_Comm comm, const Memory& memory) {
  const Neighbours at(random, comm);
  const bool late = random.chance(30);
  constexpr std::array<Starter, 3> starters{MPI_Isend, MPI_Issend, MPI_Irsend};
  const auto messages = random_messages(random, memory, 6);
  std::vector<MPI_Request> requests;
  for (std::size_t i = 0; i < messages.size(); ++i)
    MPI_Irecv(memory.to + messages[i].to_at, messages[i].receive_count(), messages[i].receive_type(), at.from,
              static_cast<int>(i), comm, &requests.emplace_back());
  MPI_Barrier(comm);
  if (late && at.rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  for (std::size_t i = messages.size(); i-- > 0;) {
    const Message& message = messages[i];
    starters[static_cast<std::size_t>(random.between(0, 2))](memory.from + message.from_at, message.send_count(),
                                                             message.send_type(), at.to, static_cast<int>(i), comm,
                                                             &requests.emplace_back());
  }
  const std::vector<MPI_Status> statuses = complete(random, requests);
  std::vector<int> seen;
  for (std::size_t i = 0; i < messages.size(); ++i) see(seen, statuses[i], messages[i].receive_type());
  return seen;
}

// Started several times, with other bytes each time.
std::vector<int> persistent(Random& random, MPI_Comm comm, const Memory& memory) {
  const Neighbours at(random, comm);
  constexpr std::array<Starter, 2> makers{MPI_Send_init, MPI_Ssend_init};
  const auto messages = random_messages(random, memory, 4);
  std::vector<MPI_Request> requests;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    MPI_Recv_init(memory.to + message.to_at, message.receive_count(), message.receive_type(), at.from,
                  static_cast<int>(i), comm, &requests.emplace_back());
    makers[static_cast<std::size_t>(random.between(0, 1))](memory.from + message.from_at, message.send_count(),
                                                           message.send_type(), at.to, static_cast<int>(i), comm,
                                                           &requests.emplace_back());
  }
  std::vector<int> seen;
  for (int round = random.between(1, 3); round > 0; --round) {
    std::vector<std::byte> fresh(memory.size);
    for (std::byte& byte : fresh) byte = static_cast<std::byte>(random.next() + static_cast<unsigned>(at.rank));
    plumb_mpi_copy(memory.from, fresh.data(), fresh.size());
    if (random.chance(50))
      MPI_Startall(static_cast<int>(requests.size()), requests.data());
    else
      for (MPI_Request& request : requests) MPI_Start(&request);
    const std::vector<MPI_Status> statuses = complete(random, requests);
    for (std::size_t i = 0; i < messages.size(); ++i) see(seen, statuses[2 * i], messages[i].receive_type());
    MPI_Barrier(comm);
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
  return seen;
}

std::vector<int> exchanged(Random& random, MPI_Comm comm, const Memory& memory) {
  const Neighbours at(random, comm);
  std::vector<int> seen;
  MPI_Status status;
  for (const Message& message : random_messages(random, memory, 3)) {
    if (random.chance(30) && !over_mpich()) {  // it packs here, too
      const std::ptrdiff_t both_at = message.sent_as_basics ? message.to_at : message.from_at;
      MPI_Sendrecv_replace(memory.to + both_at, message.count, message.type.handle(), at.to, 5, at.from, 5, comm,
                           &status);
      see(seen, status, message.type.handle());
    } else {
      MPI_Sendrecv(memory.from + message.from_at, message.send_count(), message.send_type(), at.to, 5,
                   memory.to + message.to_at, message.receive_count(), message.receive_type(), at.from, 5, comm,
                   &status);
      see(seen, status, message.receive_type());
    }
  }
  return seen;
}

// Sends whose requests are freed at once.
std::vector<int> freed(Random& random, MPI_Comm comm, const Memory& memory) {
  const Neighbours at(random, comm);
  std::vector<int> seen;
  if (over_mpich()) return seen;  // 4.0.2 brings such messages cut short, or not at all
  const auto messages = random_messages(random, memory, 4);
  for (const Message& message : messages) {
    MPI_Request request = MPI_REQUEST_NULL;
    const Starter send = random.chance(50) ? MPI_Isend : MPI_Issend;
    send(memory.from + message.from_at, message.send_count(), message.send_type(), at.to, 3, comm, &request);
    MPI_Request_free(&request);
  }
  MPI_Status status;
  for (const Message& message : messages) {
    MPI_Recv(memory.to + message.to_at, message.receive_count(), message.receive_type(), at.from, 3, comm, &status);
    see(seen, status, message.receive_type());
  }
  MPI_Barrier(comm);
  return seen;
}

namespace {

// Probes in one of its forms, then receives in one of a receive's.
void receive_probed(Random& random, const Neighbours& at, const Message& message, std::byte* to,
                    std::vector<int>& seen) {
  MPI_Status status;
  MPI_Message matched = MPI_MESSAGE_NULL;
  MPI_Request receive = MPI_REQUEST_NULL;
  const int count = message.receive_count();
  MPI_Datatype type = message.receive_type();
  const int tag = random.chance(50) ? 7 : MPI_ANY_TAG;
  int flag = 0;
  switch (random.between(0, 3)) {
    case 0:
      MPI_Probe(random.chance(50) ? at.from : MPI_ANY_SOURCE, tag, at.comm, &status);
      break;
    case 1:
      while (flag == 0) MPI_Iprobe(at.from, tag, at.comm, &flag, &status);
      break;
    case 2:
      MPI_Mprobe(at.from, tag, at.comm, &matched, &status);
      break;
    default:
      while (flag == 0) MPI_Improbe(at.from, tag, at.comm, &flag, &matched, &status);
  }
  see(seen, status, type);
  const int form = random.between(0, 3);
  if (matched != MPI_MESSAGE_NULL && form < 2) {
    MPI_Mrecv(to, count, type, &matched, &status);
  } else if (matched != MPI_MESSAGE_NULL) {
    MPI_Imrecv(to, count, type, &matched, &receive);
  } else if (form == 0) {
    MPI_Recv(to, count, type, at.from, tag, at.comm, &status);
  } else if (form == 1) {
    MPI_Sendrecv(to, 0, MPI_BYTE, MPI_PROC_NULL, 7, to, count, type, at.from, tag, at.comm, &status);
  } else if (form == 2) {
    MPI_Irecv(to, count, type, at.from, tag, at.comm, &receive);
  } else {
    MPI_Recv_init(to, count, type, at.from, tag, at.comm, &receive);
    MPI_Start(&receive);
    MPI_Wait(&receive, &status);
    MPI_Request_free(&receive);
  }
  if (receive != MPI_REQUEST_NULL) {
    std::vector<MPI_Request> requests{receive};
    status = complete(random, requests)[0];
  }
  see(seen, status, type);
}

}  // namespace

// Receives a probed message; MPI_PROC_NULL leaves memory unchanged.
std::vector<int> probed(Random& random, MPI_Comm comm, const Memory& memory) {
  const Neighbours at(random, comm);
  std::vector<int> seen;
  MPI_Status status;
  for (const Message& message : random_messages(random, memory, 3)) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(memory.from + message.from_at, message.send_count(), message.send_type(), at.to, 7, comm, &request);
    std::byte* to = memory.to + message.to_at;
    receive_probed(random, at, message, to, seen);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(to, message.receive_count(), message.receive_type(), MPI_PROC_NULL, 7, comm, &status);
    see(seen, status, message.receive_type());
  }
  return seen;
}

// Looks at messages in any order; they still come in the order that they were sent in.
std::vector<int> probed_out_of_order(Random& random, MPI_Comm comm, const Memory& memory) {
  const Neighbours at(random, comm);
  const int messages = random.between(2, 4);
  const auto slice = static_cast<std::ptrdiff_t>(memory.size) / messages;
  const auto shape = random_messages(random, {memory.from, memory.to, static_cast<std::size_t>(slice)}, 1);
  const Message& message = shape[0];
  std::vector<MPI_Request> requests;
  for (int i = 0; i < messages; ++i)
    MPI_Isend(memory.from + i * slice + message.from_at, message.send_count(), message.send_type(), at.to, i, comm,
              &requests.emplace_back());
  std::vector<int> seen;
  MPI_Status status;
  for (int i = random.between(1, messages); i > 0; --i) {
    MPI_Probe(at.from, random.between(0, messages - 1), comm, &status);
    see(seen, status, message.receive_type());
  }
  for (int i = 0; i < messages; ++i) {
    MPI_Recv(memory.to + i * slice + message.to_at, message.receive_count(), message.receive_type(), at.from,
             MPI_ANY_TAG, comm, &status);
    see(seen, status, message.receive_type());
  }
  complete(random, requests);
  return seen;
}

}  // namespace plumb::stress
