// An MPI library made wrong on purpose, under benchmarks that measure MPI itself: MPI's functions are this program's
// own, and call the library's (PMPI), but for one of them that does its work wrong.
#pragma once

#include <mpi.h>

#include <string>

namespace plumb::mutants {

// From now on the library is wrong in this way on `comm` and graphs made of it; "" = it is right. Throws Error for a
// name that is none.
void spoil_mpi(const std::string& name, MPI_Comm comm);

}  // namespace plumb::mutants
