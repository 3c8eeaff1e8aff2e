#include "interpose/types/datatype_contents.hpp"

namespace plumb::interpose {

namespace {

int combiner_of(MPI_Datatype type) {
  int unused = 0, combiner = MPI_COMBINER_NAMED;
  PMPI_Type_get_envelope(type, &unused, &unused, &unused, &combiner);
  return combiner;
}

}  // namespace

Contents::Contents(MPI_Datatype type) : combiner(combiner_of(type)) {
  if (combiner != MPI_COMBINER_NAMED) read(type);
}

Contents::~Contents() {
  for (MPI_Datatype& type : types)
    if (combiner_of(type) != MPI_COMBINER_NAMED) PMPI_Type_free(&type);
}

}  // namespace plumb::interpose
