// Calls that no other rank takes part in: packing, unpacking, and a reduction of two operands.
#include <algorithm>

#include "interpose/call.hpp"

namespace plumb::interpose {

namespace {

// The bytes of a packed buffer of `size` bytes, from `position` on, that elements of at most `most` bytes lie in.
Part packed(MPI_Aint size, MPI_Aint position, MPI_Aint most) {
  return {position, std::clamp<MPI_Aint>(most, 0, std::max<MPI_Aint>(size - position, 0)), MPI_BYTE};
}

MPI_Aint packed_size(int count, MPI_Datatype type, MPI_Comm comm) {
  int size = 0;
  PMPI_Pack_size(count, type, comm, &size);
  return size;
}

MPI_Aint external_size(const char* form, int count, MPI_Datatype type) {
  MPI_Aint size = 0;
  PMPI_Pack_external_size(form, count, type, &size);
  return size;
}

}  // namespace

}  // namespace plumb::interpose

using namespace plumb::interpose;

extern "C" {

// Elements may pack into fewer bytes than MPI_Pack_size says, so those are read, too.
int MPI_Pack(const void* from, int count, MPI_Datatype type, void* to, int size, int* position, MPI_Comm comm) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Pack(from, count, type, to, size, position, comm);
  return run_call("MPI_Pack", [&](Call& call) {
    const Part part = packed(size, *position, packed_size(count, type, comm));
    const void* staged = call.in(from, count, type);
    return PMPI_Pack(staged, count, type, call.stage(to, {part}, {part}), size, position, comm);
  });
}

int MPI_Unpack(const void* from, int size, int* position, void* to, int count, MPI_Datatype type, MPI_Comm comm) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Unpack(from, size, position, to, count, type, comm);
  return run_call("MPI_Unpack", [&](Call& call) {
    const Part part = packed(size, *position, packed_size(count, type, comm));
    const void* staged = call.stage(from, {part}, {});
    return PMPI_Unpack(staged, size, position, call.out(to, count, type), count, type, comm);
  });
}

int MPI_Pack_external(const char* form, const void* from, int count, MPI_Datatype type, void* to, MPI_Aint size,
                      MPI_Aint* position) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Pack_external(form, from, count, type, to, size, position);
  return run_call("MPI_Pack_external", [&](Call& call) {
    const Part part = packed(size, *position, external_size(form, count, type));
    const void* staged = call.in(from, count, type);
    return PMPI_Pack_external(form, staged, count, type, call.stage(to, {part}, {part}), size, position);
  });
}

int MPI_Unpack_external(const char* form, const void* from, MPI_Aint size, MPI_Aint* position, void* to, int count,
                        MPI_Datatype type) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Unpack_external(form, from, size, position, to, count, type);
  return run_call("MPI_Unpack_external", [&](Call& call) {
    const Part part = packed(size, *position, external_size(form, count, type));
    const void* staged = call.stage(from, {part}, {});
    return PMPI_Unpack_external(form, staged, size, position, call.out(to, count, type), count, type);
  });
}

int MPI_Reduce_local(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Reduce_local(from, to, count, type, op);
  return run_call("MPI_Reduce_local", [&](Call& call) {
    const void* staged = call.in(from, count, type);
    return PMPI_Reduce_local(staged, call.inout(to, count, type), count, type, op);
  });
}

}  // extern "C"
