// Sends of messages on a device.
#pragma once

#include "interpose/staging/requests.hpp"

namespace plumb::interpose {

// Minimum size in bytes of an offered message: the buffer of MPI_Bsend has room for the message only.
template <auto send>
constexpr std::size_t least_offered = 0;
template <>
inline constexpr std::size_t least_offered<PMPI_Bsend> = sizeof(Envelope);
template <>
inline constexpr std::size_t least_offered<PMPI_Ibsend> = sizeof(Envelope);

template <auto send>
int send_by(const char* name, const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return run_call(name, [&](Call& call) {
    const Message message = call.message(from, count, type, to, comm, least_offered<send>);
    return send(message.address, message.count, message.type, to, tag, comm);
  });
}

template <auto send>
int start_send_by(const char* name, const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return start_call(name, request, [&](Call& call, MPI_Request* inner) {
    const Message message = call.message(from, count, type, to, comm, least_offered<send>);
    return send(message.address, message.count, message.type, to, tag, comm, inner);
  });
}

template <auto send>
int prepare_send_by(const char* name, const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  return prepare_call(name, request, [&](Call& call, MPI_Request* inner) {
    return send(call.in(from, count, type), count, type, to, tag, comm, inner);
  });
}

}  // namespace plumb::interpose
