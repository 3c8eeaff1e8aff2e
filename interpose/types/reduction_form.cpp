#include "interpose/types/reduction_form.hpp"

#include <bit>
#include <map>

namespace plumb::interpose {

namespace {

// MPI 3.1, section 5.9.2. Multi-language integers (MPI_AINT) are treated like those of Fortran.
enum class Group { c_integer, fortran_integer, floating, byte, boolean };

struct Kind {
  Group group;
  bool has_sign;
};

const std::map<MPI_Datatype, Kind>& kinds() {
  static const std::map<MPI_Datatype, Kind> known = [] {
    std::map<MPI_Datatype, Kind> made;
    const auto add = [&](Kind kind, std::initializer_list<MPI_Datatype> types) {
      for (const MPI_Datatype type : types) made.emplace(type, kind);
    };
    add({Group::c_integer, true}, {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG});
    add({Group::c_integer, true}, {MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T});
    add({Group::c_integer, false},
        {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG});
    add({Group::c_integer, false}, {MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T});
    add({Group::fortran_integer, true}, {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8});
    add({Group::fortran_integer, true}, {MPI_AINT, MPI_OFFSET, MPI_COUNT});
    add({Group::floating, true}, {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8});
    add({Group::byte, false}, {MPI_BYTE});
    add({Group::boolean, false}, {MPI_C_BOOL});
    made.erase(MPI_DATATYPE_NULL);  // types that this MPI lacks
    return made;
  }();
  return known;
}

std::optional<Operation> operation_of(MPI_Op op) {
  static const std::map<MPI_Op, Operation> known{{MPI_SUM, Operation::sum},        {MPI_PROD, Operation::product},
                                                 {MPI_MAX, Operation::maximum},    {MPI_MIN, Operation::minimum},
                                                 {MPI_BAND, Operation::bit_and},   {MPI_BOR, Operation::bit_or},
                                                 {MPI_BXOR, Operation::bit_xor},   {MPI_LAND, Operation::logical_and},
                                                 {MPI_LOR, Operation::logical_or}, {MPI_LXOR, Operation::logical_xor}};
  const auto found = known.find(op);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

bool allows(Group group, Operation operation) {
  if (operation <= Operation::minimum) return group != Group::byte && group != Group::boolean;
  if (operation <= Operation::bit_xor) return group != Group::floating && group != Group::boolean;
  return group == Group::c_integer || group == Group::boolean;
}

// None if there is no type of this size.
std::optional<NumberType> number_type(const Kind& kind, int bytes) {
  if (kind.group == Group::floating) {
    if (bytes == 4) return NumberType::f32;
    return bytes == 8 ? std::optional(NumberType::f64) : std::nullopt;
  }
  if (bytes < 1 || bytes > 8 || !std::has_single_bit(static_cast<unsigned>(bytes))) return {};
  const int first = static_cast<int>(kind.has_sign ? NumberType::int8 : NumberType::uint8);
  return static_cast<NumberType>(first + std::countr_zero(static_cast<unsigned>(bytes)));
}

}  // namespace

std::optional<ReductionForm> reduction_form(MPI_Datatype type, MPI_Op op) {
  const auto kind = kinds().find(type);
  const auto operation = operation_of(op);
  if (kind == kinds().end() || !operation || !allows(kind->second.group, *operation)) return {};
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  const auto number = number_type(kind->second, bytes);
  return number ? std::optional(ReductionForm{*number, *operation}) : std::nullopt;
}

}  // namespace plumb::interpose
