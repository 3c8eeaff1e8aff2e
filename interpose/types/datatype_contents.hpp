// The constructor of a derived datatype and its arguments, from MPI_Type_get_contents.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace plumb::interpose {

// Owns the derived types among `types`.
struct Contents {
  explicit Contents(MPI_Datatype type);
  ~Contents();
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  std::size_t size(std::size_t at) const { return static_cast<std::size_t>(integers[at]); }

  int combiner = MPI_COMBINER_NAMED;
  // In the order of the constructors with counts of type int (MPI 3.1, section 4.1.13), for all constructors.
  std::vector<MPI_Aint> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;

 private:
  void read(MPI_Datatype type);  // of a derived type; all but the combiner
};

}  // namespace plumb::interpose
