// Sends and receives. Each calls MPI on memory of the host: the program's own, or what a call stages there.
#include <climits>
#include <memory>

#include "interpose/staging/requests.hpp"

namespace plumb::interpose {

namespace {

// A message of fewer bytes is not offered.
template <auto send>
constexpr std::size_t least_offered = 0;
// The program has attached a buffer with room for its message, and no more.
template <>
constexpr std::size_t least_offered<PMPI_Bsend> = sizeof(Envelope);
template <>
constexpr std::size_t least_offered<PMPI_Ibsend> = sizeof(Envelope);

template <auto send>
int send_by(const char* name, const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (!is_device(from)) [[likely]]
    return send(from, count, type, to, tag, comm);
  return run_call(name, [&](Call& call) {
    const Message message = call.message(from, count, type, to, comm, least_offered<send>);
    return send(message.address, message.count, message.type, to, tag, comm);
  });
}

template <auto send>
int start_send_by(const char* name, const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  if (!is_device(from)) [[likely]]
    return send(from, count, type, to, tag, comm, request);
  return start_call(name, request, [&](Call& call, MPI_Request* inner) {
    const Message message = call.message(from, count, type, to, comm, least_offered<send>);
    return send(message.address, message.count, message.type, to, tag, comm, inner);
  });
}

template <auto send>
int prepare_send_by(const char* name, const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  if (!is_device(from)) [[likely]]
    return send(from, count, type, to, tag, comm, request);
  return prepare_call(name, request, [&](Call& call, MPI_Request* inner) {
    return send(call.in(from, count, type), count, type, to, tag, comm, inner);
  });
}

// Whether MPI_Pack can say how many bytes it makes.
bool is_packable(int count, MPI_Datatype type) {
  MPI_Count bytes = 0;
  PMPI_Type_size_x(type, &bytes);
  return bytes * count < INT_MAX / 2;
}

}  // namespace

}  // namespace plumb::interpose

using namespace plumb::interpose;

extern "C" {

int MPI_Send(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return send_by<PMPI_Send>("MPI_Send", from, count, type, to, tag, comm);
}

int MPI_Bsend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return send_by<PMPI_Bsend>("MPI_Bsend", from, count, type, to, tag, comm);
}

int MPI_Ssend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return send_by<PMPI_Ssend>("MPI_Ssend", from, count, type, to, tag, comm);
}

int MPI_Rsend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return send_by<PMPI_Rsend>("MPI_Rsend", from, count, type, to, tag, comm);
}

int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return start_send_by<PMPI_Isend>("MPI_Isend", from, count, type, to, tag, comm, request);
}

int MPI_Ibsend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return start_send_by<PMPI_Ibsend>("MPI_Ibsend", from, count, type, to, tag, comm, request);
}

int MPI_Issend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return start_send_by<PMPI_Issend>("MPI_Issend", from, count, type, to, tag, comm, request);
}

int MPI_Irsend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return start_send_by<PMPI_Irsend>("MPI_Irsend", from, count, type, to, tag, comm, request);
}

int MPI_Send_init(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return prepare_send_by<PMPI_Send_init>("MPI_Send_init", from, count, type, to, tag, comm, request);
}

int MPI_Bsend_init(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  return prepare_send_by<PMPI_Bsend_init>("MPI_Bsend_init", from, count, type, to, tag, comm, request);
}

int MPI_Ssend_init(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  return prepare_send_by<PMPI_Ssend_init>("MPI_Ssend_init", from, count, type, to, tag, comm, request);
}

int MPI_Rsend_init(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  return prepare_send_by<PMPI_Rsend_init>("MPI_Rsend_init", from, count, type, to, tag, comm, request);
}

int MPI_Recv(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  if (!is_device(to) && !offers_on) [[likely]]
    return PMPI_Recv(to, count, type, from, tag, comm, status);
  return run_receive("MPI_Recv", status, [&](Call& call, MPI_Status* filled) {
    const Room room = call.room(to, count, type);
    const int source = call.source(from, tag, comm);
    call.await(source, tag, comm);
    return PMPI_Recv(room.address, room.count, room.type, source, tag, comm, filled);
  });
}

int MPI_Mrecv(void* to, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  if (!is_device(to) && !offers_on) [[likely]]
    return PMPI_Mrecv(to, count, type, message, status);
  return run_receive("MPI_Mrecv", status, [&](Call& call, MPI_Status* filled) {
    call.receive_probed(*message);
    return PMPI_Mrecv(call.out(to, count, type), count, type, message, filled);
  });
}

int MPI_Irecv(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  if (!is_device(to) && !offers_on) [[likely]]
    return PMPI_Irecv(to, count, type, from, tag, comm, request);
  const auto work = [&](Call& call, MPI_Request* inner) {
    const Room room = call.room(to, count, type);
    return PMPI_Irecv(room.address, room.count, room.type, call.source(from, tag, comm), tag, comm, inner);
  };
  return start_call("MPI_Irecv", request, work, Receipt::counted);
}

int MPI_Imrecv(void* to, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  if (!is_device(to) && !offers_on) [[likely]]
    return PMPI_Imrecv(to, count, type, message, request);
  const auto work = [&](Call& call, MPI_Request* inner) {
    call.receive_probed(*message);
    return PMPI_Imrecv(call.out(to, count, type), count, type, message, inner);
  };
  return start_call("MPI_Imrecv", request, work, Receipt::counted);
}

int MPI_Recv_init(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  if (!is_device(to) && !offers_on) [[likely]]
    return PMPI_Recv_init(to, count, type, from, tag, comm, request);
  const auto work = [&](Call& call, MPI_Request* inner) {
    const Room room = call.room(to, count, type);
    return PMPI_Recv_init(room.address, room.count, room.type, call.source(from, tag, comm), tag, comm, inner);
  };
  return prepare_call("MPI_Recv_init", request, work, Receipt::counted);
}

int MPI_Sendrecv(const void* from, int send_count, MPI_Datatype send_type, int to_rank, int send_tag, void* to,
                 int receive_count, MPI_Datatype receive_type, int from_rank, int receive_tag, MPI_Comm comm,
                 MPI_Status* status) {
  if (!is_device(from) && !is_device(to) && !offers_on) [[likely]]
    return PMPI_Sendrecv(from, send_count, send_type, to_rank, send_tag, to, receive_count, receive_type, from_rank,
                         receive_tag, comm, status);
  return run_receive("MPI_Sendrecv", status, [&](Call& call, MPI_Status* filled) {
    const Message message = call.message(from, send_count, send_type, to_rank, comm);
    const Room room = call.room(to, receive_count, receive_type);
    return PMPI_Sendrecv(message.address, message.count, message.type, to_rank, send_tag, room.address, room.count,
                         room.type, call.source(from_rank, receive_tag, comm), receive_tag, comm, filled);
  });
}

int MPI_Sendrecv_replace(void* both, int count, MPI_Datatype type, int to_rank, int send_tag, int from_rank,
                         int receive_tag, MPI_Comm comm, MPI_Status* status) {
  if (!is_device(both) && !offers_on) [[likely]]
    return PMPI_Sendrecv_replace(both, count, type, to_rank, send_tag, from_rank, receive_tag, comm, status);
  return run_receive("MPI_Sendrecv_replace", status, [&](Call& call, MPI_Status* filled) {
    const int source = call.source(from_rank, receive_tag, comm);
    if (!offers_on || !is_packable(count, type))
      return PMPI_Sendrecv_replace(call.inout(both, count, type), count, type, to_rank, send_tag, source, receive_tag,
                                   comm, filled);
    int room_bytes = 0, packed_bytes = 0;
    PMPI_Pack_size(count, type, comm, &room_bytes);
    const auto packed = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(room_bytes));
    PMPI_Pack(call.in(both, count, type), count, type, packed.get(), room_bytes, &packed_bytes, comm);
    const Room room = call.room(both, count, type);
    return PMPI_Sendrecv(packed.get(), packed_bytes, MPI_PACKED, to_rank, send_tag, room.address, room.count, room.type,
                         source, receive_tag, comm, filled);
  });
}

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status* status) {
  if (!offers_on) [[likely]]
    return PMPI_Probe(from, tag, comm, status);
  return or_abort("MPI_Probe", [&] { return probe_offered(from, tag, comm, nullptr, status); });
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  if (!offers_on) [[likely]]
    return PMPI_Iprobe(from, tag, comm, flag, status);
  return or_abort("MPI_Iprobe", [&] { return probe_offered(from, tag, comm, flag, status); });
}

int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  if (!offers_on) [[likely]]
    return PMPI_Mprobe(from, tag, comm, message, status);
  return or_abort("MPI_Mprobe", [&] { return match_offered(from, tag, comm, nullptr, message, status); });
}

int MPI_Improbe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  if (!offers_on) [[likely]]
    return PMPI_Improbe(from, tag, comm, flag, message, status);
  return or_abort("MPI_Improbe", [&] { return match_offered(from, tag, comm, flag, message, status); });
}

}  // extern "C"
