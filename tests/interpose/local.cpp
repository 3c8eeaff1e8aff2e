// Packing and unpacking, which each rank does for itself.
#include <algorithm>

#include "operations.hpp"
#include "parts.hpp"

namespace plumb::stress {

// Packs elements behind each other, from some position on, and unpacks them elsewhere.
std::vector<int> packed(Random& random, MPI_Comm comm, const Memory& memory) {
  const Type type = random_type(random);
  const auto half = static_cast<std::ptrdiff_t>(memory.size / 2);
  const int count = fitting(random, type, half / 4);
  int bytes = 0;
  MPI_Type_size(type.handle(), &bytes);
  if (bytes * count == 0) return {};  // MPICH 4.0.2 may divide by zero in MPI_Unpack
  // MPICH 4.0.2 crashes where it packs some derived datatypes, and MPI_SHORT_INT, in the external form.
  const bool external = random.chance(50) && type.handle() == type.basic();
  std::byte* to = memory.to + half;
  int size = static_cast<int>(half), begin = random.between(0, size / 8), at = begin;
  MPI_Aint external_at = begin;
  for (int i = 0; i < 2; ++i) {
    const std::byte* from = memory.from + place(random, type, count, 2 * half);
    if (external)
      MPI_Pack_external("external32", from, count, type.handle(), to, half, &external_at);
    else
      MPI_Pack(from, count, type.handle(), to, size, &at, comm);
  }
  std::vector<int> seen{at, static_cast<int>(external_at)};
  at = begin;
  external_at = begin;
  std::byte* back = memory.to + place(random, type, count, half);
  if (external)
    MPI_Unpack_external("external32", to, half, &external_at, back, count, type.handle());
  else
    MPI_Unpack(to, size, &at, back, count, type.handle(), comm);
  seen.insert(seen.end(), {at, static_cast<int>(external_at)});
  return seen;
}

}  // namespace plumb::stress
