#include "interpose/types/datatype.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/error.hpp"
#include "interpose/types/datatype_contents.hpp"

namespace plumb::interpose {

namespace {

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  return extent;
}

Layout flatten(MPI_Datatype type);

// A basic type is one run, except the pairs of MPI_MINLOC, which may have a gap.
Layout named(MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  Layout layout{{}, extent_of(type)};
  if (type == MPI_SHORT_INT) {
    layout.runs = {{0, sizeof(short)}, {static_cast<std::ptrdiff_t>(sizeof(int)), sizeof(int)}};
  } else if (size > 0) {
    layout.runs = {{0, static_cast<std::size_t>(size)}};
  }
  return layout;
}

// integers: count, block length, stride in elements (vector) or none (hvector: addresses)
void add_vector(Runs& runs, const Contents& contents, const Layout& element) {
  const bool in_bytes = contents.combiner == MPI_COMBINER_HVECTOR;
  const MPI_Aint stride = in_bytes ? contents.addresses[0] : contents.integers[2] * element.extent;
  for (std::size_t i = 0; i < contents.size(0); ++i)
    append(runs, element, static_cast<MPI_Aint>(i) * stride, contents.size(1));
}

// integers: count, block lengths, displacements in elements (indexed) or none (hindexed: addresses)
void add_indexed(Runs& runs, const Contents& contents, const Layout& element) {
  const std::size_t count = contents.size(0);
  const bool in_bytes = contents.combiner == MPI_COMBINER_HINDEXED;
  for (std::size_t i = 0; i < count; ++i)
    append(runs, element, in_bytes ? contents.addresses[i] : contents.integers[1 + count + i] * element.extent,
           contents.size(1 + i));
}

// integers: count, block length, displacements in elements or none (hindexed_block: addresses)
void add_blocks(Runs& runs, const Contents& contents, const Layout& element) {
  const bool in_bytes = contents.combiner == MPI_COMBINER_HINDEXED_BLOCK;
  for (std::size_t i = 0; i < contents.size(0); ++i)
    append(runs, element, in_bytes ? contents.addresses[i] : contents.integers[2 + i] * element.extent,
           contents.size(1));
}

// integers: dimensions, sizes, subsizes, starts, order. Rows of the fastest dimension, one after the other.
void add_subarray(Runs& runs, const Contents& contents, const Layout& element) {
  const std::size_t dimensions = contents.size(0);
  const bool c_order = contents.integers[1 + 3 * dimensions] == MPI_ORDER_C;
  struct Dimension {
    std::ptrdiff_t size = 0, part = 0, start = 0;
  };
  std::vector<Dimension> slowest_first;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::size_t at = c_order ? i : dimensions - 1 - i;
    slowest_first.push_back({contents.integers[1 + at], contents.integers[1 + dimensions + at],
                             contents.integers[1 + 2 * dimensions + at]});
  }
  const Dimension fastest = slowest_first.back();
  const std::ptrdiff_t rows =
      std::accumulate(slowest_first.begin(), slowest_first.end() - 1, std::ptrdiff_t{1},
                      [](std::ptrdiff_t product, const Dimension& dimension) { return product * dimension.part; });
  for (std::ptrdiff_t row = 0; row < rows; ++row) {
    std::ptrdiff_t rest = row, stride = fastest.size, element_at = fastest.start;
    for (std::size_t i = dimensions - 1; i-- > 0;) {
      const Dimension& dimension = slowest_first[i];
      element_at += (dimension.start + rest % dimension.part) * stride;
      rest /= dimension.part;
      stride *= dimension.size;
    }
    append(runs, element, element_at * element.extent, static_cast<std::size_t>(fastest.part));
  }
}

// integers: count, block lengths; one type for each block
void add_struct(Runs& runs, const Contents& contents) {
  for (std::size_t i = 0; i < contents.size(0); ++i)
    append(runs, flatten(contents.types[i]), contents.addresses[i], contents.size(1 + i));
}

Layout flatten(MPI_Datatype type) {
  const Contents contents(type);
  Layout layout{{}, extent_of(type)};
  if (contents.combiner == MPI_COMBINER_STRUCT) {
    add_struct(layout.runs, contents);
    return layout;
  }
  if (contents.types.empty()) return named(type);  // also the types of MPI_Type_create_f90_*
  const Layout element = flatten(contents.types.front());
  switch (contents.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      layout.runs = element.runs;
      return layout;
    case MPI_COMBINER_CONTIGUOUS:
      append(layout.runs, element, 0, contents.size(0));
      return layout;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
      add_vector(layout.runs, contents, element);
      return layout;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
      add_indexed(layout.runs, contents, element);
      return layout;
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
      add_blocks(layout.runs, contents, element);
      return layout;
    case MPI_COMBINER_SUBARRAY:
      add_subarray(layout.runs, contents, element);
      return layout;
    default:
      throw Error(fmt::format(
          "unsupported datatype for device memory (combiner {}); use contiguous, vector, indexed, subarray, "
          "struct, resized or duplicated types",
          contents.combiner));
  }
}

using SharedLayout = std::shared_ptr<const Layout>;

// The attribute's value is a SharedLayout of its own, destroyed with the datatype.
int end_layout(MPI_Datatype, int, void* value, void*) {
  const std::unique_ptr<SharedLayout> layout(static_cast<SharedLayout*>(value));
  return MPI_SUCCESS;
}

int layout_keyval() {
  static const int keyval = [] {
    int key = MPI_KEYVAL_INVALID;
    PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, end_layout, &key, nullptr);
    return key;
  }();
  return keyval;
}

}  // namespace

void append(Runs& runs, const Run& run) {
  if (run.size == 0) return;
  if (!runs.empty() && runs.back().offset + static_cast<std::ptrdiff_t>(runs.back().size) == run.offset)
    runs.back().size += run.size;
  else
    runs.push_back(run);
}

SharedLayout layout_of(MPI_Datatype type) {
  int unused = 0, combiner = MPI_COMBINER_NAMED;
  PMPI_Type_get_envelope(type, &unused, &unused, &unused, &combiner);
  if (combiner == MPI_COMBINER_NAMED) return std::make_shared<const Layout>(named(type));
  void* known = nullptr;
  int found = 0;
  PMPI_Type_get_attr(type, layout_keyval(), static_cast<void*>(&known), &found);
  if (found != 0) return *static_cast<SharedLayout*>(known);
  auto layout = std::make_unique<SharedLayout>(std::make_shared<const Layout>(flatten(type)));
  SharedLayout result = *layout;
  PMPI_Type_set_attr(type, layout_keyval(), layout.release());
  return result;
}

void append(Runs& runs, const Layout& layout, std::ptrdiff_t offset, std::size_t count) {
  const bool dense = layout.runs.size() == 1 && static_cast<MPI_Aint>(layout.runs[0].size) == layout.extent;
  if (dense) return append(runs, Run{offset + layout.runs[0].offset, layout.runs[0].size * count});
  for (std::size_t i = 0; i < count; ++i)
    for (const Run& run : layout.runs)
      append(runs, Run{offset + static_cast<MPI_Aint>(i) * layout.extent + run.offset, run.size});
}

namespace {

// Size of a basic type without gaps, which most messages have and for which no layout is built; 0 for other types. The
// latest type of each thread is cached: basic types are never freed.
std::size_t basic_size(MPI_Datatype type) {
  thread_local MPI_Datatype latest = MPI_DATATYPE_NULL;
  thread_local std::size_t latest_size = 0;
  if (type == latest) return latest_size;
  int unused = 0, combiner = MPI_COMBINER_NAMED, size = 0;
  PMPI_Type_get_envelope(type, &unused, &unused, &unused, &combiner);
  PMPI_Type_size(type, &size);
  if (combiner != MPI_COMBINER_NAMED || size <= 0 || extent_of(type) != size) return 0;
  latest = type;
  return latest_size = static_cast<std::size_t>(size);
}

}  // namespace

void append(Runs& runs, MPI_Datatype type, std::ptrdiff_t offset, std::size_t count) {
  if (const std::size_t size = basic_size(type); size > 0)
    append(runs, Run{offset, size * count});
  else
    append(runs, *layout_of(type), offset, count);
}

Span span_of(const Runs& runs) {
  if (runs.empty()) return {};
  Span span{runs.front().offset, runs.front().offset};
  for (const Run& run : runs) {
    span.low = std::min(span.low, run.offset);
    span.high = std::max(span.high, run.offset + static_cast<std::ptrdiff_t>(run.size));
  }
  return span;
}

Runs widened(Runs runs, std::size_t gap) {
  if (runs.size() < 2) return runs;
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.offset < b.offset; });
  Runs result{runs.front()};
  for (const Run& run : runs) {
    Run& last = result.back();
    const std::ptrdiff_t end = last.offset + static_cast<std::ptrdiff_t>(last.size);
    const std::ptrdiff_t run_end = run.offset + static_cast<std::ptrdiff_t>(run.size);
    if (run.offset > end + static_cast<std::ptrdiff_t>(gap))
      result.push_back(run);
    else
      last.size = static_cast<std::size_t>(std::max(end, run_end) - last.offset);
  }
  return result;
}

Runs first_bytes(const Runs& runs, std::size_t bytes) {
  Runs result;
  for (const Run& run : runs) {
    if (bytes == 0) break;
    result.push_back({run.offset, std::min(run.size, bytes)});
    bytes -= result.back().size;
  }
  return result;
}

}  // namespace plumb::interpose
