// What a derived datatype was made of: what MPI_Type_get_contents tells.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace plumb::interpose {

// Owns the types in it that are no basic ones.
struct Contents {
  explicit Contents(MPI_Datatype type);
  ~Contents();
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  std::size_t size(std::size_t at) const { return static_cast<std::size_t>(integers[at]); }

  int combiner = MPI_COMBINER_NAMED;
  // As the constructors with counts of type int have them (MPI 3.1, section 4.1.13), whichever made the type.
  std::vector<MPI_Aint> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;

 private:
  void read(MPI_Datatype type);  // all but the combiner, of a type that is no basic one
};

}  // namespace plumb::interpose
