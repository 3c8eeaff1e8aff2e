// The kernel for a datatype and an operation of MPI.
#pragma once

#include <mpi.h>

#include <compare>
#include <optional>

#include "transport/patterns/combine.hpp"

namespace plumb::interpose {

struct ReductionForm {
  NumberType type = NumberType::int32;
  Operation operation = Operation::sum;

  auto operator<=>(const ReductionForm&) const = default;
};

// None for complex, half and long double numbers, Fortran's logical, pairs, and user-defined operations; and for
// combinations that MPI rejects (MPI 3.1, section 5.9.2).
std::optional<ReductionForm> reduction_form(MPI_Datatype type, MPI_Op op);

}  // namespace plumb::interpose
