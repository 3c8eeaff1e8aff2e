// Fortran's calls under Open MPI, whose Fortran libraries go past C's entry points (MPICH's go through them). A call
// goes to the C function when an operand is on a device, a request is ours, it has a window, or messages are offered
// from device to device, else to Open MPI's own Fortran function.
#pragma once

#include <mpi.h>

#include <tuple>
#include <type_traits>
#include <utility>

#include "interpose/staging/requests.hpp"

// Fortran's MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE: Open MPI tells them by their
// addresses.
extern "C" {
extern MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_status_ignore_, mpi_fortran_statuses_ignore_;
}

namespace plumb::interpose::fortran {

using Address = void*;  // of an argument: Fortran passes nothing else

static_assert(std::is_same_v<MPI_Fint, int>);  // so that arrays of counts and offsets are C's
constexpr int status_integers = sizeof(MPI_Status) / sizeof(MPI_Fint);

inline MPI_Fint& integer(Address address) {
  return *static_cast<MPI_Fint*>(address);
}

template <class Handle>
struct Conversion {
  static constexpr std::nullptr_t to_c = nullptr;
};
template <auto f2c, auto c2f>
struct HandleConversion {
  static constexpr auto to_c = f2c;
  static constexpr auto to_fortran = c2f;
};
template <>
struct Conversion<MPI_Comm> : HandleConversion<PMPI_Comm_f2c, PMPI_Comm_c2f> {};
template <>
struct Conversion<MPI_Datatype> : HandleConversion<PMPI_Type_f2c, PMPI_Type_c2f> {};
template <>
struct Conversion<MPI_Op> : HandleConversion<PMPI_Op_f2c, PMPI_Op_c2f> {};
template <>
struct Conversion<MPI_Request> : HandleConversion<MPI_Request_f2c, MPI_Request_c2f> {};
template <>
struct Conversion<MPI_Message> : HandleConversion<PMPI_Message_f2c, PMPI_Message_c2f> {};
template <>
struct Conversion<MPI_Win> : HandleConversion<PMPI_Win_f2c, PMPI_Win_c2f> {};
template <>
struct Conversion<MPI_Group> : HandleConversion<PMPI_Group_f2c, PMPI_Group_c2f> {};
template <>
struct Conversion<MPI_Info> : HandleConversion<PMPI_Info_f2c, PMPI_Info_c2f> {};
template <>
struct Conversion<MPI_File> : HandleConversion<PMPI_File_f2c, PMPI_File_c2f> {};

template <class Type>
constexpr bool is_handle = !std::is_same_v<std::remove_const_t<decltype(Conversion<Type>::to_c)>, std::nullptr_t>;

// Whether a handle concerns the C functions here: what a window is of is known there only.
template <class Handle>
bool is_ours(MPI_Fint handle) {
  return std::is_same_v<Handle, MPI_Win> || (std::is_same_v<Handle, MPI_Request> && is_own_integer(handle));
}

// An argument of a C function, made of Fortran's: of a number or a handle.
template <class Parameter>
class Argument {
 public:
  explicit Argument(Address address) : address_(address) {}
  static bool concerns_us(Address address) {
    if constexpr (is_handle<Parameter>) return is_ours<Parameter>(integer(address));
    return false;
  }
  Parameter in_c() const {
    if constexpr (is_handle<Parameter>)
      return Conversion<Parameter>::to_c(integer(address_));
    else
      return *static_cast<const Parameter*>(address_);
  }
  void give_back() const {}

 private:
  Address address_;
};

// What a call may alter: a handle, or what has the same form in both languages.
template <class Type>
requires(!is_handle<Type*>) class Argument<Type*> {
 public:
  explicit Argument(Address address) : address_(address) {
    if constexpr (is_handle<Type>) now_ = before_ = Conversion<Type>::to_c(integer(address));
  }
  static bool concerns_us(Address address) {
    if constexpr (is_handle<Type>) return is_ours<Type>(integer(address));
    return false;
  }
  Type* in_c() {
    if constexpr (is_handle<Type>)
      return &now_;
    else
      return static_cast<Type*>(address_);
  }
  void give_back() const {
    if constexpr (is_handle<Type>)
      if (now_ != before_) integer(address_) = Conversion<Type>::to_fortran(now_);
  }

 private:
  using Held = std::conditional_t<is_handle<Type>, Type, std::nullptr_t>;
  Address address_;
  Held before_ = {}, now_ = {};
};

class Buffer {
 public:
  explicit Buffer(Address address) : address_(address) {}
  static bool concerns_us(Address address) { return is_device(address); }
  void* in_c() const {
    if (address_ == &mpi_fortran_in_place_) return MPI_IN_PLACE;
    return address_ == &mpi_fortran_bottom_ ? MPI_BOTTOM : address_;
  }
  void give_back() const {}

 private:
  Address address_;
};
template <>
class Argument<void*> : public Buffer {
  using Buffer::Buffer;
};
template <>
class Argument<const void*> : public Buffer {
  using Buffer::Buffer;
};

template <>
class Argument<MPI_Status*> {
 public:
  explicit Argument(Address address) : address_(static_cast<MPI_Fint*>(address)) {
    if (!ignored()) PMPI_Status_f2c(address_, &status_);
  }
  static bool concerns_us(Address) { return false; }
  MPI_Status* in_c() { return ignored() ? MPI_STATUS_IGNORE : &status_; }
  void give_back() const {
    if (!ignored()) PMPI_Status_c2f(&status_, address_);
  }

 private:
  bool ignored() const { return address_ == &mpi_fortran_status_ignore_; }
  MPI_Fint* address_;
  MPI_Status status_ = {};
};

inline void give_code(Address error, int code) {
  if (error != nullptr) integer(error) = code;
}

// One call. original: Open MPI's; null where its Fortran library is loaded so that it cannot be seen from here, and
// then all goes by C.
template <class... Parameters, class Original, class... Addresses>
void enter(int (*function)(Parameters...), Original* original, Address error, Addresses... addresses) {
  static_assert(sizeof...(Parameters) == sizeof...(Addresses));
  if (original != nullptr && !offers_on && !(Argument<Parameters>::concerns_us(addresses) || ...)) [[likely]]
    return original(addresses..., error);
  std::tuple<Argument<Parameters>...> arguments(Argument<Parameters>{addresses}...);
  const int code = std::apply([&](auto&... each) { return function(each.in_c()...); }, arguments);
  std::apply([](auto&... each) { (each.give_back(), ...); }, arguments);
  give_code(error, code);
}

}  // namespace plumb::interpose::fortran
