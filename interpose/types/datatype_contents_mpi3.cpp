// Where the library has no counts of type MPI_Count.
#include "interpose/types/datatype_contents.hpp"

namespace plumb::interpose {

void Contents::read(MPI_Datatype type) {
  int integer_count = 0, address_count = 0, type_count = 0, unused = 0;
  PMPI_Type_get_envelope(type, &integer_count, &address_count, &type_count, &unused);
  std::vector<int> numbers(static_cast<std::size_t>(integer_count));
  addresses.resize(static_cast<std::size_t>(address_count));
  types.resize(static_cast<std::size_t>(type_count), MPI_DATATYPE_NULL);
  PMPI_Type_get_contents(type, integer_count, address_count, type_count, numbers.data(), addresses.data(),
                         types.data());
  integers.assign(numbers.begin(), numbers.end());
}

}  // namespace plumb::interpose
