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

#if MPI_VERSION >= 4

// A constructor with counts of type MPI_Count has its numbers in a separate list that includes displacements in bytes
// (MPI 4.0, section 5.1.13).
namespace {

// Number of leading counts that other constructors have as integers; the rest are addresses.
std::size_t integers_among(int combiner, const std::vector<MPI_Count>& counts) {
  switch (combiner) {
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_HINDEXED_BLOCK:
      return 2;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
      return 1 + static_cast<std::size_t>(counts[0]);
    case MPI_COMBINER_RESIZED:
      return 0;
    default:
      return counts.size();
  }
}

}  // namespace

void Contents::read(MPI_Datatype type) {
  MPI_Count integer_count = 0, address_count = 0, large_count = 0, type_count = 0;
  int unused = 0;
  PMPI_Type_get_envelope_c(type, &integer_count, &address_count, &large_count, &type_count, &unused);
  std::vector<int> numbers(static_cast<std::size_t>(integer_count));
  std::vector<MPI_Count> counts(static_cast<std::size_t>(large_count));
  addresses.resize(static_cast<std::size_t>(address_count));
  types.resize(static_cast<std::size_t>(type_count), MPI_DATATYPE_NULL);
  PMPI_Type_get_contents_c(type, integer_count, address_count, large_count, type_count, numbers.data(),
                           addresses.data(), counts.data(), types.data());
  integers.assign(numbers.begin(), numbers.end());
  if (counts.empty()) return;
  // Those of a subarray lie between its number of dimensions and its order.
  const auto split = counts.begin() + static_cast<std::ptrdiff_t>(integers_among(combiner, counts));
  integers.insert(integers.empty() ? integers.end() : integers.begin() + 1, counts.begin(), split);
  addresses.insert(addresses.end(), split, counts.end());
}

#else

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

#endif

}  // namespace plumb::interpose
