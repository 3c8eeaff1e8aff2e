// The bytes of a datatype: its type map (MPI 3.1, section 4.1), without the basic types.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace plumb::interpose {

// `size` bytes, `offset` bytes after the operand's address.
struct Run {
  std::ptrdiff_t offset = 0;
  std::size_t size = 0;
};
using Runs = std::vector<Run>;

// Appends a run, merged with the last one if it continues it.
void append(Runs& runs, const Run& run);

// One element of a datatype: its runs in the order of the type map, which is that of a message, and the distance in
// bytes to the next element.
struct Layout {
  Runs runs;
  MPI_Aint extent = 0;
};

// Throws Error for a datatype that is not contiguous, vector, indexed, subarray or struct of basic types. The layout of
// a derived type is computed once and kept as an attribute of the type, so that a later type with the same handle gets
// its own.
std::shared_ptr<const Layout> layout_of(MPI_Datatype type);

// Appends `count` elements from `offset` bytes after the address on.
void append(Runs& runs, const Layout& layout, std::ptrdiff_t offset, std::size_t count);

// The same for a datatype.
void append(Runs& runs, MPI_Datatype type, std::ptrdiff_t offset, std::size_t count);

// From the lowest byte to one past the highest; {0, 0} without runs.
struct Span {
  std::ptrdiff_t low = 0, high = 0;
};
Span span_of(const Runs& runs);

// The runs in ascending order, with those at most `gap` bytes apart merged: a command costs more than reading the gap.
Runs widened(Runs runs, std::size_t gap);

// The first `bytes` bytes of the runs, in order.
Runs first_bytes(const Runs& runs, std::size_t bytes);

}  // namespace plumb::interpose
