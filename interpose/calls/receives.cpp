// Receives and probes.
#include <climits>
#include <memory>

#include "interpose/staging/freed_requests.hpp"

namespace plumb::interpose {

namespace {

// Whether the size that MPI_Pack needs fits into an int.
bool is_packable(int count, MPI_Datatype type) {
  MPI_Count bytes = 0;
  PMPI_Type_size_x(type, &bytes);
  return bytes * count < INT_MAX / 2;
}

#if MPI_VERSION >= 4
// Sends a packed copy for MPI_Isendrecv, so that its request is the receive's alone. (MPICH's PMPI_Isendrecv returns a
// status without the received size.)
int send_copy(const char* name, const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return or_abort(name, [&] {
    Request request;
    request.call = std::make_shared<Call>(name);
    request.under_way = true;
    int room = 0, size = 0;
    PMPI_Pack_size(count, type, comm, &room);
    std::byte* packed = request.call->own_memory(static_cast<std::size_t>(room));
    int code = MPI_Pack(from, count, type, packed, room, &size, comm);
    if (code == MPI_SUCCESS) code = PMPI_Isend(packed, size, MPI_PACKED, to, tag, comm, &request.inner);
    if (code == MPI_SUCCESS) keep_freed(std::move(request));
    return code;
  });
}
#endif

}  // namespace

}  // namespace plumb::interpose

using namespace plumb::interpose;

extern "C" {

int MPI_Recv(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  if (!is_device(to) && !may_be_offered(count, type)) [[likely]]
    return PMPI_Recv(to, count, type, from, tag, comm, status);
  return run_receive("MPI_Recv", status, [&](Call& call, MPI_Status* filled) {
    const Room room = call.room(to, count, type);
    return call.receive(room, call.source(from, tag, comm), tag, comm, filled);
  });
}

int MPI_Mrecv(void* to, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  if (!is_device(to) && !may_be_offered(count, type)) [[likely]]
    return PMPI_Mrecv(to, count, type, message, status);
  return run_receive("MPI_Mrecv", status, [&](Call& call, MPI_Status* filled) {
    call.receive_probed(*message);
    return PMPI_Mrecv(call.out(to, count, type), count, type, message, filled);
  });
}

int MPI_Irecv(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  if (!is_device(to) && !may_be_offered(count, type)) [[likely]]
    return PMPI_Irecv(to, count, type, from, tag, comm, request);
  const auto work = [&](Call& call, MPI_Request* inner) {
    const Room room = call.room(to, count, type);
    return PMPI_Irecv(room.address, room.count, room.type, call.source(from, tag, comm), tag, comm, inner);
  };
  return start_call("MPI_Irecv", request, work, Receipt::counted);
}

int MPI_Imrecv(void* to, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  if (!is_device(to) && !may_be_offered(count, type)) [[likely]]
    return PMPI_Imrecv(to, count, type, message, request);
  const auto work = [&](Call& call, MPI_Request* inner) {
    call.receive_probed(*message);
    return PMPI_Imrecv(call.out(to, count, type), count, type, message, inner);
  };
  return start_call("MPI_Imrecv", request, work, Receipt::counted);
}

int MPI_Recv_init(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  if (!is_device(to) && !may_be_offered(count, type)) [[likely]]
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
  if (!is_device(from) && !is_device(to) && !may_be_offered(receive_count, receive_type)) [[likely]]
    return PMPI_Sendrecv(from, send_count, send_type, to_rank, send_tag, to, receive_count, receive_type, from_rank,
                         receive_tag, comm, status);
  return run_receive("MPI_Sendrecv", status, [&](Call& call, MPI_Status* filled) {
    const Message message = call.message(from, send_count, send_type, to_rank, comm);
    const Room room = call.room(to, receive_count, receive_type);
    if (call.in_pieces()) {  // which another rank may need to send what is received here
      MPI_Request sent = MPI_REQUEST_NULL;
      PMPI_Isend(message.address, message.count, message.type, to_rank, send_tag, comm, &sent);
      call.carry_on();
      const int code = PMPI_Recv(room.address, room.count, room.type, call.source(from_rank, receive_tag, comm),
                                 receive_tag, comm, filled);
      PMPI_Wait(&sent, MPI_STATUS_IGNORE);
      return code;
    }
    return PMPI_Sendrecv(message.address, message.count, message.type, to_rank, send_tag, room.address, room.count,
                         room.type, call.source(from_rank, receive_tag, comm), receive_tag, comm, filled);
  });
}

int MPI_Sendrecv_replace(void* both, int count, MPI_Datatype type, int to_rank, int send_tag, int from_rank,
                         int receive_tag, MPI_Comm comm, MPI_Status* status) {
  if (!is_device(both) && !may_be_offered(count, type)) [[likely]]
    return PMPI_Sendrecv_replace(both, count, type, to_rank, send_tag, from_rank, receive_tag, comm, status);
  return run_receive("MPI_Sendrecv_replace", status, [&](Call& call, MPI_Status* filled) {
    const int source = call.source(from_rank, receive_tag, comm);
    if (!may_be_offered(count, type) || !is_packable(count, type))
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

#if MPI_VERSION >= 4
int MPI_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  if (!is_device(sendbuf) && !is_device(recvbuf) && !may_be_offered(recvcount, recvtype)) [[likely]]
    return PMPI_Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
                          comm, request);
  const int code = send_copy("MPI_Isendrecv", sendbuf, sendcount, sendtype, dest, sendtag, comm);
  return code == MPI_SUCCESS ? MPI_Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, request) : code;
}

int MPI_Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                          MPI_Comm comm, MPI_Request* request) {
  if (!is_device(buf) && !may_be_offered(count, datatype)) [[likely]]
    return PMPI_Isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
  const int code = send_copy("MPI_Isendrecv_replace", buf, count, datatype, dest, sendtag, comm);
  return code == MPI_SUCCESS ? MPI_Irecv(buf, count, datatype, source, recvtag, comm, request) : code;
}
#endif

}  // extern "C"
