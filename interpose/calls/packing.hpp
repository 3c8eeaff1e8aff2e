// Packing and unpacking by MPI of staged operands. One body for counts and sizes of type int, MPI_Aint and MPI_Count
// (MPI 4, section 5.2). measure: MPI's function for the largest packed size of elements.
#pragma once

#include <algorithm>

#include "interpose/staging/call.hpp"

namespace plumb::interpose {

// Elements of at most `most` bytes, packed from `position` on into a buffer of `size` bytes.
inline Part packed(MPI_Aint size, MPI_Aint position, MPI_Aint most) {
  return {position, std::clamp<MPI_Aint>(most, 0, std::max<MPI_Aint>(size - position, 0)), MPI_BYTE};
}

template <auto measure, class Count>
MPI_Aint packed_size(Count count, MPI_Datatype type, MPI_Comm comm) {
  Count size = 0;
  measure(count, type, comm, &size);
  return size;
}

template <auto measure, class Size, class Count>
MPI_Aint external_size(const char* form, Count count, MPI_Datatype type) {
  Size size = 0;
  measure(form, count, type, &size);
  return size;
}

// Elements may pack into fewer bytes than `measure` returns, so the rest must be read, too.
template <auto pack, auto measure, class Count>
int pack_by(const char* name, const void* from, Count count, MPI_Datatype type, void* to, Count size, Count* position,
            MPI_Comm comm) {
  return run_call(name, [&](Call& call) {
    const Part part = packed(size, *position, packed_size<measure>(count, type, comm));
    const void* staged = call.in(from, count, type);
    return pack(staged, count, type, call.stage(to, {part}, {part}), size, position, comm);
  });
}

template <auto unpack, auto measure, class Count>
int unpack_by(const char* name, const void* from, Count size, Count* position, void* to, Count count, MPI_Datatype type,
              MPI_Comm comm) {
  return run_call(name, [&](Call& call) {
    const Part part = packed(size, *position, packed_size<measure>(count, type, comm));
    const void* staged = call.stage(from, {part}, {});
    return unpack(staged, size, position, call.out(to, count, type), count, type, comm);
  });
}

template <auto pack, auto measure, class Count, class Size>
int pack_external_by(const char* name, const char* form, const void* from, Count count, MPI_Datatype type, void* to,
                     Size size, Size* position) {
  return run_call(name, [&](Call& call) {
    const Part part = packed(size, *position, external_size<measure, Size>(form, count, type));
    const void* staged = call.in(from, count, type);
    return pack(form, staged, count, type, call.stage(to, {part}, {part}), size, position);
  });
}

template <auto unpack, auto measure, class Count, class Size>
int unpack_external_by(const char* name, const char* form, const void* from, Size size, Size* position, void* to,
                       Count count, MPI_Datatype type) {
  return run_call(name, [&](Call& call) {
    const Part part = packed(size, *position, external_size<measure, Size>(form, count, type));
    const void* staged = call.stage(from, {part}, {});
    return unpack(form, staged, size, position, call.out(to, count, type), count, type);
  });
}

template <auto reduce_local, class Count>
int reduce_local_by(const char* name, const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op) {
  return run_call(name, [&](Call& call) {
    const void* staged = call.in(from, count, type);
    return reduce_local(staged, call.inout(to, count, type), count, type, op);
  });
}

}  // namespace plumb::interpose
