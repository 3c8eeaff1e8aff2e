#include "interpose/collectives/collective_operands.hpp"

namespace plumb::interpose {

namespace {

// Stages what each rank sends; in place, this rank's own part is input.
void* stage_collected(Call& call, void* to, const Parts& parts, bool in_place, MPI_Comm comm) {
  if (!in_place) return call.stage(to, {}, parts);
  const auto own = static_cast<std::size_t>(rank_in(comm));
  Parts others = parts;
  others[own].count = 0;
  return call.stage(to, {parts[own]}, others);
}

}  // namespace

int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}

int partners(MPI_Comm comm) {
  if (!between_groups(comm)) return size_of(comm);
  int size = 0;
  PMPI_Comm_remote_size(comm, &size);
  return size;
}

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  return extent;
}

std::size_t bytes_of(MPI_Aint count, MPI_Datatype type) {
  int size = 0;
  if (type != MPI_DATATYPE_NULL) PMPI_Type_size(type, &size);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

bool between_groups(MPI_Comm comm) {
  int between = 0;
  PMPI_Comm_test_inter(comm, &between);
  return between != 0;
}

Role role_of(int root, MPI_Comm comm) {
  if (between_groups(comm)) return {root == MPI_ROOT, root != MPI_ROOT && root != MPI_PROC_NULL};
  const bool is_root = root == rank_in(comm);
  return {is_root, !is_root};
}

void* stage_bcast(Call& call, const Target& data, int root, MPI_Comm comm) {
  const Role role = role_of(root, comm);
  if (role.root) return call.stage(data.address, {{0, data.count, data.type}}, {});
  return role.other ? call.out(data.address, data.count, data.type) : data.address;
}

Operands stage_allgather(Call& call, const Source& from, void* to, MPI_Comm comm, const Parts& parts) {
  const bool in_place = from.address == MPI_IN_PLACE;
  const void* source = in_place ? from.address : call.in(from.address, from.count, from.type);
  return {source, stage_collected(call, to, parts, in_place, comm)};
}

Operands stage_reduce(Call& call, const void* from, void* to, MPI_Aint count, MPI_Datatype type, int root,
                      MPI_Comm comm) {
  const Role role = role_of(root, comm);
  const Part elements{0, count, type};
  if (role.root && between_groups(comm)) return {from, call.out(to, count, type)};
  if (role.root) return stage_reduction(call, from, to, elements, elements);
  return {role.other ? call.in(from, count, type) : from, to};
}

Operands stage_reduction(Call& call, const void* from, void* to, const Part& taken, const Part& given) {
  if (from == MPI_IN_PLACE) return {from, call.stage(to, {taken}, {given})};
  return {call.stage(from, {taken}, {}), call.stage(to, {}, {given})};
}

Operands stage_exscan(Call& call, const void* from, void* to, const Part& elements, MPI_Comm comm) {
  if (rank_in(comm) > 0) return stage_reduction(call, from, to, elements, elements);
  // Rank 0 receives nothing, but MPI may use the memory.
  if (from == MPI_IN_PLACE) return {from, call.stage(to, {elements}, {})};
  return {call.stage(from, {elements}, {}), call.stage(to, {elements}, {})};
}

}  // namespace plumb::interpose
