// Calls that no other rank takes part in: packing, unpacking, and a reduction of two operands.
#include "interpose/calls/packing.hpp"

using namespace plumb::interpose;

extern "C" {

int MPI_Pack(const void* from, int count, MPI_Datatype type, void* to, int size, int* position, MPI_Comm comm) {
  return pack_by<PMPI_Pack, PMPI_Pack_size>("MPI_Pack", from, count, type, to, size, position, comm);
}

int MPI_Unpack(const void* from, int size, int* position, void* to, int count, MPI_Datatype type, MPI_Comm comm) {
  return unpack_by<PMPI_Unpack, PMPI_Pack_size>("MPI_Unpack", from, size, position, to, count, type, comm);
}

int MPI_Pack_external(const char* form, const void* from, int count, MPI_Datatype type, void* to, MPI_Aint size,
                      MPI_Aint* position) {
  return pack_external_by<PMPI_Pack_external, PMPI_Pack_external_size>("MPI_Pack_external", form, from, count, type, to,
                                                                       size, position);
}

int MPI_Unpack_external(const char* form, const void* from, MPI_Aint size, MPI_Aint* position, void* to, int count,
                        MPI_Datatype type) {
  return unpack_external_by<PMPI_Unpack_external, PMPI_Pack_external_size>("MPI_Unpack_external", form, from, size,
                                                                           position, to, count, type);
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
