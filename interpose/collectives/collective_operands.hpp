// Staging of the operands of each collective on this rank (MPI 3.1, chapter 5), blocking or not. An operand without
// meaning on this rank is left as it is.
#pragma once

#include "interpose/staging/call.hpp"

namespace plumb::interpose {

struct Operands {
  const void* from = nullptr;
  void* to = nullptr;
};

int rank_in(MPI_Comm comm);
int size_of(MPI_Comm comm);   // of this side of an intercommunicator
int partners(MPI_Comm comm);  // size of the other side of an intercommunicator, else of `comm`

bool between_groups(MPI_Comm comm);  // whether it is an intercommunicator

MPI_Aint extent_of(MPI_Datatype type);
std::size_t bytes_of(MPI_Aint count, MPI_Datatype type);  // 0 for MPI_DATATYPE_NULL

// Operands as in the table of functions. parts(ranks): the part of each rank; is_equal: whether all parts have the same
// size, which common_bytes() then returns.

// `count` elements, the same for all ranks.
template <class Address>
struct Elements {
  Address address = nullptr;
  MPI_Aint count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;

  Parts parts(int) const { return {{0, count, type}}; }
};
using Source = Elements<const void*>;
using Target = Elements<void*>;

// `count` elements for each rank, contiguous in rank order.
template <class Address>
struct Equal {
  static constexpr bool is_equal = true;
  Address address;
  MPI_Aint count;
  MPI_Datatype type;

  std::optional<std::size_t> common_bytes() const { return bytes_of(count, type); }

  Parts parts(int ranks) const {
    const MPI_Aint extent = extent_of(type);
    Parts parts;
    for (int i = 0; i < ranks; ++i) parts.push_back({i * count * extent, count, type});
    return parts;
  }
};

// counts[i] elements for rank i, at an offset in elements.
template <class Address, class Count, class Offset>
struct Varied {
  static constexpr bool is_equal = false;
  Address address;
  const Count* counts;
  const Offset* offsets;
  MPI_Datatype type;

  static std::optional<std::size_t> common_bytes() { return {}; }
  Parts parts(int ranks) const {
    const MPI_Aint extent = extent_of(type);
    Parts parts;
    for (int i = 0; i < ranks; ++i) parts.push_back({offsets[i] * extent, counts[i], type});
    return parts;
  }
};

// counts[i] elements of types[i] for rank i, at an offset in bytes.
template <class Address, class Count, class Offset>
struct Typed {
  static constexpr bool is_equal = false;
  Address address;
  const Count* counts;
  const Offset* offsets;
  const MPI_Datatype* types;

  static std::optional<std::size_t> common_bytes() { return {}; }
  Parts parts(int ranks) const {
    Parts parts;
    for (int i = 0; i < ranks; ++i) parts.push_back({static_cast<std::ptrdiff_t>(offsets[i]), counts[i], types[i]});
    return parts;
  }
};

template <class Address, class Count>
Elements(Address, Count, MPI_Datatype) -> Elements<Address>;
template <class Address, class Count>
Equal(Address, Count, MPI_Datatype) -> Equal<Address>;
template <class Address, class Count, class Offset>
Varied(Address, const Count*, const Offset*, MPI_Datatype) -> Varied<Address, Count, Offset>;
template <class Address, class Count, class Offset>
Typed(Address, const Count*, const Offset*, const MPI_Datatype*) -> Typed<Address, Count, Offset>;

// The role of this rank in a collective with a root.
struct Role {
  bool root = false, other = false;  // neither: on the root's side of an intercommunicator
};
Role role_of(int root, MPI_Comm comm);

void* stage_bcast(Call& call, const Target& data, int root, MPI_Comm comm);
Operands stage_allgather(Call& call, const Source& from, void* to, MPI_Comm comm, const Parts& parts);
Operands stage_reduce(Call& call, const void* from, void* to, MPI_Aint count, MPI_Datatype type, int root,
                      MPI_Comm comm);
// taken: input of each rank; given: result of this rank.
Operands stage_reduction(Call& call, const void* from, void* to, const Part& taken, const Part& given);
Operands stage_exscan(Call& call, const void* from, void* to, const Part& elements, MPI_Comm comm);

// parts() is called only on the root if counts are significant only there.
template <class MakeParts>
Operands stage_gather(Call& call, const Source& from, void* to, int root, MPI_Comm comm, MakeParts parts);
template <class MakeParts>
Operands stage_scatter(Call& call, const void* from, const Target& to, int root, MPI_Comm comm, MakeParts parts);
// send_parts() is not called for MPI_IN_PLACE.
template <class MakeParts>
Operands stage_alltoall(Call& call, const void* from, void* to, MakeParts send_parts, const Parts& receive_parts);

template <class MakeParts>
Operands stage_gather(Call& call, const Source& from, void* to, int root, MPI_Comm comm, MakeParts parts) {
  const Role role = role_of(root, comm);
  if (role.root && between_groups(comm)) return {from.address, call.stage(to, {}, parts())};
  if (role.root) return stage_allgather(call, from, to, comm, parts());
  return {role.other ? call.in(from.address, from.count, from.type) : from.address, to};
}

template <class MakeParts>
Operands stage_scatter(Call& call, const void* from, const Target& to, int root, MPI_Comm comm, MakeParts parts) {
  const Role role = role_of(root, comm);
  Operands staged{from, to.address};
  if (role.root) staged.from = call.stage(from, parts(), {});
  if (role.other || (role.root && !between_groups(comm))) staged.to = call.out(to.address, to.count, to.type);
  return staged;
}

template <class MakeParts>
Operands stage_alltoall(Call& call, const void* from, void* to, MakeParts send_parts, const Parts& receive_parts) {
  if (from == MPI_IN_PLACE) return {from, call.stage(to, receive_parts, receive_parts)};
  return {call.stage(from, send_parts(), {}), call.stage(to, {}, receive_parts)};
}

}  // namespace plumb::interpose
