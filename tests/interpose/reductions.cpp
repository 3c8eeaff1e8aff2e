// Reductions: each operation that MPI has, of the types that it allows (MPI 3.1, section 5.9.2).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>

#include "operations.hpp"
#include "parts.hpp"
#include "plumb_mpi.h"

namespace plumb::stress {

namespace {

enum class Values { integer, natural, fortran_integer, floating, byte, boolean, pair };

struct NumberType {
  MPI_Datatype handle;
  Values values;
  int size;
};

NumberType random_number_type(Random& random) {
  const std::array<std::pair<MPI_Datatype, Values>, 28> types{{{MPI_SIGNED_CHAR, Values::integer},
                                                               {MPI_SHORT, Values::integer},
                                                               {MPI_INT, Values::integer},
                                                               {MPI_LONG, Values::integer},
                                                               {MPI_LONG_LONG, Values::integer},
                                                               {MPI_UNSIGNED_CHAR, Values::natural},
                                                               {MPI_UNSIGNED_SHORT, Values::natural},
                                                               {MPI_UNSIGNED, Values::natural},
                                                               {MPI_UNSIGNED_LONG, Values::natural},
                                                               {MPI_UNSIGNED_LONG_LONG, Values::natural},
                                                               {MPI_INT8_T, Values::integer},
                                                               {MPI_INT16_T, Values::integer},
                                                               {MPI_INT32_T, Values::integer},
                                                               {MPI_INT64_T, Values::integer},
                                                               {MPI_UINT8_T, Values::natural},
                                                               {MPI_UINT16_T, Values::natural},
                                                               {MPI_UINT32_T, Values::natural},
                                                               {MPI_UINT64_T, Values::natural},
                                                               {MPI_INTEGER, Values::fortran_integer},
                                                               {MPI_AINT, Values::fortran_integer},
                                                               {MPI_OFFSET, Values::fortran_integer},
                                                               {MPI_FLOAT, Values::floating},
                                                               {MPI_DOUBLE, Values::floating},
                                                               {MPI_REAL, Values::floating},
                                                               {MPI_DOUBLE_PRECISION, Values::floating},
                                                               {MPI_BYTE, Values::byte},
                                                               {MPI_C_BOOL, Values::boolean},
                                                               {MPI_2INT, Values::pair}}};
  const auto& [handle, values] = types[static_cast<std::size_t>(random.between(0, types.size() - 1))];
  int size = 0;
  MPI_Type_size(handle, &size);
  return {handle, values, size};
}

MPI_Op random_op(Random& random, Values values) {
  // Operations of all numbers, of integers as well, of C's integers as well.
  const std::array ops{MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
  int first = 0, last = 9;
  if (values == Values::fortran_integer) last = 6;
  if (values == Values::floating) last = 3;
  if (values == Values::byte) first = 4, last = 6;
  if (values == Values::boolean) first = 7;
  const MPI_Op op = ops[static_cast<std::size_t>(random.between(first, last))];
  if (values == Values::pair) return random.chance(50) ? MPI_MINLOC : MPI_MAXLOC;
  return op;
}

// Whether MPI itself takes them for numbers with a sign, or the other way round, where it looks for the largest one.
bool sign_is_mistaken(const NumberType& type) {
  if (over_mpich()) return type.values == Values::natural;               // 4.0
  return type.handle == MPI_UNSIGNED_LONG || type.handle == MPI_OFFSET;  // Open MPI 4.1
}

// A number that any order of reducing gives the same with, for at most eight ranks.
double floating_value(Random& random, MPI_Op op) {
  const int sign = random.chance(50) ? 1 : -1;
  return op == MPI_PROD ? sign * std::ldexp(1.0, random.between(-3, 3)) : random.between(-1000, 1000);
}

bool is_extremum(MPI_Op op) {
  return op == MPI_MAX || op == MPI_MIN;
}

bool is_logical(MPI_Op op) {
  return op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR;
}

// One element as MPI takes it. Of a logical operation's half are nothing.
void put_value(Random& random, const NumberType& type, MPI_Op op, std::byte* to) {
  if (type.values == Values::floating) {
    const double value = floating_value(random, op);
    const auto narrow = static_cast<float>(value);
    std::memcpy(to, type.size == 4 ? static_cast<const void*>(&narrow) : &value, static_cast<std::size_t>(type.size));
    return;
  }
  const std::uint64_t bits = is_logical(op) && random.chance(50) ? 0
                             : type.values == Values::boolean    ? 1
                                                                 : random.next();
  std::memcpy(to, &bits, static_cast<std::size_t>(type.size));
  if (is_extremum(op)) to[type.size - 1] &= std::byte{0x7f};
}

// Operands of a reduction of `parts` blocks of `count` elements.
class Reduction {
 public:
  Reduction(Random& random, const Memory& memory, int parts)
      : type(random_number_type(random)),
        op(random_op(random, type.values)),
        count(fitting(random, element(), static_cast<std::ptrdiff_t>(memory.size) / parts)),
        in_place(random.chance(30)),
        waits(random.chance(50)) {
    const bool whole_numbers = random.chance(50);  // on the bounds of their types
    from = at(random, memory.from, memory.size, parts, whole_numbers);
    to = at(random, memory.to, memory.size, parts, whole_numbers);
  }
  MPI_Datatype handle() const { return type.handle; }

  NumberType type;
  MPI_Op op;
  int count;
  bool in_place, waits;
  std::byte *from = nullptr, *to = nullptr;

 private:
  Type element() const { return {type.handle, MPI_DATATYPE_NULL, false}; }
  bool takes_any_bytes() const {
    return type.values != Values::floating && !is_logical(op) && !(is_extremum(op) && sign_is_mistaken(type));
  }
  // Where elements lie, with each rank's own values.
  std::byte* at(Random& random, std::byte* memory, std::size_t size, int parts, bool whole_numbers) const {
    std::ptrdiff_t offset = place(random, element(), parts * count, static_cast<std::ptrdiff_t>(size));
    if (whole_numbers) offset -= offset % type.size;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Random own(random.next() + static_cast<std::uint64_t>(rank));
    std::vector<std::byte> values(static_cast<std::size_t>(parts) * static_cast<std::size_t>(count * type.size));
    for (std::size_t i = 0; i < values.size() && !takes_any_bytes(); i += static_cast<std::size_t>(type.size))
      put_value(own, type, op, values.data() + i);
    if (!takes_any_bytes()) plumb_mpi_copy(memory + offset, values.data(), values.size());
    return memory + offset;
  }
};

}  // namespace

std::vector<int> reduced(Random& random, MPI_Comm comm, const Memory& memory) {
  const Group group(comm);
  const int which = random.between(0, 3), root = random.between(0, group.size - 1);
  const Reduction it(random, memory, which < 2 ? 1 : group.size);
  const MPI_Datatype type = it.handle();
  bool can_be_in_place = true;
  // MPICH 4.0 reads at MPI_IN_PLACE's own address where the root is not rank 0.
  if (which == 0) can_be_in_place = group.rank == root && (root == 0 || !over_mpich());
  // Open MPI 4.1 writes past the result.
  if (which == 2) can_be_in_place = group.size < 4 || over_mpich();
  const void* from = it.in_place && can_be_in_place ? MPI_IN_PLACE : it.from;
  MPI_Request request = MPI_REQUEST_NULL;
  std::vector<int> counts;
  for (int i = 0; i < group.size; ++i) counts.push_back(random.chance(20) ? 0 : random.between(0, it.count));
  switch (which) {
    case 0:
      if (it.waits)
        MPI_Ireduce(from, it.to, it.count, type, it.op, root, comm, &request);
      else
        MPI_Reduce(from, it.to, it.count, type, it.op, root, comm);
      break;
    case 1:
      if (it.waits)
        MPI_Iallreduce(from, it.to, it.count, type, it.op, comm, &request);
      else
        MPI_Allreduce(from, it.to, it.count, type, it.op, comm);
      break;
    case 2:
      if (it.waits)
        MPI_Ireduce_scatter(from, it.to, counts.data(), type, it.op, comm, &request);
      else
        MPI_Reduce_scatter(from, it.to, counts.data(), type, it.op, comm);
      break;
    default:
      if (it.waits)
        MPI_Ireduce_scatter_block(from, it.to, it.count, type, it.op, comm, &request);
      else
        MPI_Reduce_scatter_block(from, it.to, it.count, type, it.op, comm);
  }
  finish(random, request);
  return {};
}

std::vector<int> scanned(Random& random, MPI_Comm comm, const Memory& memory) {
  const Reduction it(random, memory, 1);
  const void* from = it.in_place ? MPI_IN_PLACE : it.from;
  MPI_Request request = MPI_REQUEST_NULL;
  const bool exclusive = random.chance(50);
  if (exclusive && it.waits)
    MPI_Iexscan(from, it.to, it.count, it.handle(), it.op, comm, &request);
  else if (exclusive)
    MPI_Exscan(from, it.to, it.count, it.handle(), it.op, comm);
  else if (it.waits)
    MPI_Iscan(from, it.to, it.count, it.handle(), it.op, comm, &request);
  else
    MPI_Scan(from, it.to, it.count, it.handle(), it.op, comm);
  finish(random, request);
  return {};
}

std::vector<int> reduced_locally(Random& random, MPI_Comm, const Memory& memory) {
  const Reduction it(random, memory, 1);
  MPI_Reduce_local(it.from, it.to, it.count, it.handle(), it.op);
  return {};
}

}  // namespace plumb::stress
