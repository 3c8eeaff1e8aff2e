#include "random.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace plumb::stress {

namespace {

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  return extent;
}

std::vector<int> ascending_blocks(Random& random, std::vector<int>& lengths) {
  std::vector<int> displacements;
  int at = random.between(0, 3);
  for (int& length : lengths) {
    displacements.push_back(at);
    at += length + random.between(0, 3);
  }
  if (random.chance(30)) {
    std::reverse(displacements.begin(), displacements.end());
    std::reverse(lengths.begin(), lengths.end());
  }
  return displacements;
}

MPI_Datatype indexed(Random& random, MPI_Datatype element) {
  std::vector<int> lengths(static_cast<std::size_t>(random.between(1, 5)));
  for (int& length : lengths) length = random.between(0, 4);
  const std::vector<int> displacements = ascending_blocks(random, lengths);
  const int count = static_cast<int>(lengths.size());
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (random.chance(50)) {
    MPI_Type_indexed(count, lengths.data(), displacements.data(), element, &type);
    return type;
  }
  std::vector<MPI_Aint> bytes;
  for (const int displacement : displacements) bytes.push_back(displacement * extent_of(element));
  MPI_Type_create_hindexed(count, lengths.data(), bytes.data(), element, &type);
  return type;
}

MPI_Datatype blocks(Random& random, MPI_Datatype element) {
  const int length = random.between(1, 3);
  std::vector<int> lengths(static_cast<std::size_t>(random.between(1, 5)), length);
  const std::vector<int> displacements = ascending_blocks(random, lengths);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_indexed_block(static_cast<int>(lengths.size()), length, displacements.data(), element, &type);
  return type;
}

MPI_Datatype vector(Random& random, MPI_Datatype element) {
  const int count = random.between(1, 6), length = random.between(1, 4), stride = length + random.between(0, 5);
  // Open MPI 4.1 takes blocks that go down without a gap for ones that go up.
  const int sign = random.chance(20) && stride > length ? -1 : 1;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (random.chance(50))
    MPI_Type_vector(count, length, sign * stride, element, &type);
  else
    MPI_Type_create_hvector(count, length, sign * stride * extent_of(element), element, &type);
  return type;
}

MPI_Datatype subarray(Random& random, MPI_Datatype element) {
  const int dimensions = random.between(1, 3);
  std::array<int, 3> sizes{}, parts{}, starts{};
  for (std::size_t i = 0; i < 3; ++i) {
    sizes[i] = random.between(1, 5);
    parts[i] = random.between(1, sizes[i]);
    starts[i] = random.between(0, sizes[i] - parts[i]);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(dimensions, sizes.data(), parts.data(), starts.data(),
                           random.chance(50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, element, &type);
  return type;
}

MPI_Datatype resized(Random& random, MPI_Datatype element) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_true_extent(element, &lower, &extent);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(element, lower, (extent + 7) / 8 * 8 + 8 * random.between(0, 4), &type);
  return type;
}

MPI_Datatype structure(Random& random, MPI_Datatype element) {
  std::array<int, 3> lengths{random.between(1, 3), random.between(0, 2), random.between(1, 2)};
  std::array<MPI_Datatype, 3> types{MPI_INT, element, MPI_CHAR};
  std::array<MPI_Aint, 3> displacements{};
  MPI_Aint at = 8 * random.between(0, 2);
  for (std::size_t i = 0; i < 3; ++i) {
    MPI_Aint lower = 0, extent = 0;
    MPI_Type_get_true_extent(types[i], &lower, &extent);
    displacements[i] = at - std::min<MPI_Aint>(lower, 0);
    at = displacements[i] + std::max<MPI_Aint>(lower, 0) + lengths[i] * std::max(extent, extent_of(types[i])) + 8;
    at = at / 8 * 8;
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(3, lengths.data(), displacements.data(), types.data(), &type);
  return type;
}

// A struct's extent ends where that of a resized member does, wherever the others lie (MPI 3.1, section 4.1.7); what is
// received may not overlap.
MPI_Datatype without_overlap(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_true_extent(type, &lower, &extent);
  if (extent_of(type) >= extent) return type;
  MPI_Datatype wide = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(type, lower, (extent + 7) / 8 * 8, &wide);
  MPI_Type_free(&type);
  return wide;
}

MPI_Datatype derived(Random& random, MPI_Datatype element, bool& mixed) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  switch (random.between(0, 7)) {
    case 0:
      MPI_Type_contiguous(random.between(1, 9), element, &type);
      return type;
    case 1:
      return vector(random, element);
    case 2:
      return indexed(random, element);
    case 3:
      return blocks(random, element);
    case 4:
      return subarray(random, element);
    case 5:
      return resized(random, element);
    case 6:
      mixed = true;
      return structure(random, element);
    default:
      MPI_Type_dup(element, &type);
      return type;
  }
}

}  // namespace

int Type::basics() const {
  int size = 0, basic_size = 0;
  MPI_Type_size(handle_, &size);
  MPI_Type_size(basic_, &basic_size);
  return size / basic_size;
}

std::ptrdiff_t Type::extent() const {
  return extent_of(handle_);
}

std::pair<std::ptrdiff_t, std::ptrdiff_t> Type::bounds(int count) const {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_true_extent(handle_, &lower, &extent);
  const MPI_Aint last = (count - 1) * this->extent();
  return {lower + std::min<MPI_Aint>(last, 0), lower + extent + std::max<MPI_Aint>(last, 0)};
}

bool over_mpich() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return std::string_view(text.data()).starts_with("MPICH");
}

Type random_type(Random& random) {
  constexpr int depth = 2;
  // MPICH 4.0 writes the gap between the short and the int.
  const std::array basics{MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_SHORT_INT};
  const MPI_Datatype basic = basics[static_cast<std::size_t>(random.between(0, over_mpich() ? 3 : 4))];
  MPI_Datatype type = basic;
  bool mixed = basic == MPI_SHORT_INT;
  int levels = random.chance(40) ? 0 : random.between(1, depth);
  const bool is_derived = levels > 0;
  for (bool inner = false; levels > 0; --levels, inner = true) {
    MPI_Datatype outer = derived(random, type, mixed);
    if (inner) MPI_Type_free(&type);
    type = without_overlap(outer);
  }
  if (is_derived) MPI_Type_commit(&type);
  return {type, mixed ? MPI_DATATYPE_NULL : basic, is_derived};
}

}  // namespace plumb::stress
