// Which bytes a datatype names: its type map (MPI 3.1, section 4.1), without the basic types.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace plumb::interpose {

// `size` bytes from `offset` bytes after the address that MPI is given.
struct Run {
  std::ptrdiff_t offset = 0;
  std::size_t size = 0;
};
using Runs = std::vector<Run>;

// Appends, merged with the last run where it goes on from there.
void append(Runs& runs, const Run& run);

// One element of a datatype: its bytes in the order of the type map (that of a message), and the distance in bytes to
// the next element.
struct Layout {
  Runs runs;
  MPI_Aint extent = 0;
};

// Throws Error for a datatype that is no contiguous, vector, indexed, subarray or struct of the basic ones. A derived
// type's layout is found once and goes with the type (an attribute), so that a later type of the same handle has its
// own.
std::shared_ptr<const Layout> layout_of(MPI_Datatype type);

// Appends `count` elements that begin `offset` bytes after the address.
void append(Runs& runs, const Layout& layout, std::ptrdiff_t offset, std::size_t count);

// The same of a datatype.
void append(Runs& runs, MPI_Datatype type, std::ptrdiff_t offset, std::size_t count);

// From the lowest byte to past the highest; {0, 0} of no runs.
struct Span {
  std::ptrdiff_t low = 0, high = 0;
};
Span span_of(const Runs& runs);

// What is read instead of `runs`: in ascending order, with gaps up to `gap` bytes read too, for each command costs
// more.
Runs widened(Runs runs, std::size_t gap);

// The first `bytes` bytes of the runs, in their order.
Runs first_bytes(const Runs& runs, std::size_t bytes);

}  // namespace plumb::interpose
