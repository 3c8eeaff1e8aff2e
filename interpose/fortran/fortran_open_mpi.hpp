// Parts of the wrappers that calls/generate.py makes for Open MPI, whose Fortran libraries do not call C's functions:
// for each function mpi_name_ (mpif.h, use mpi) and the symbol that use mpi_f08 calls. A call goes to the C function if
// an operand is on a device, a request is one of this library, it has a window, or messages are offered from device to
// device; else to Open MPI's own Fortran function. Only symbols as gfortran, flang and ifx form them (lower case, one
// underscore) are defined.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "interpose/collectives/neighbourhood.hpp"
#include "interpose/staging/requests.hpp"

// Fortran's MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE: Open MPI recognises their addresses.
extern "C" {
extern MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_status_ignore_, mpi_fortran_statuses_ignore_;
}

namespace plumb::interpose::fortran {

using Address = void*;  // of an argument, as Fortran passes them

static_assert(std::is_same_v<MPI_Fint, int>);  // arrays of counts and offsets are passed on to C
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

// Whether a handle requires the C function; whether a window does is decided there.
template <class Handle>
bool is_ours(MPI_Fint handle) {
  return std::is_same_v<Handle, MPI_Win> || (std::is_same_v<Handle, MPI_Request> && is_own_integer(handle));
}

// Arguments of a call. address(): Fortran's argument; concerns_us(): whether it requires the C function; in_c(): C's
// argument, valid during the lifetime of this; give_back(): copies changes to Fortran's argument.
class AnyArgument {
 public:
  explicit AnyArgument(Address address) : address_(address) {}
  Address address() const { return address_; }
  bool concerns_us() const { return false; }
  void give_back() const {}

 protected:
  MPI_Fint* integers() const { return static_cast<MPI_Fint*>(address_); }

 private:
  Address address_;
};

// A number or a handle.
template <class Parameter>
class Argument : public AnyArgument {
 public:
  using AnyArgument::AnyArgument;
  bool concerns_us() const {
    if constexpr (is_handle<Parameter>) return is_ours<Parameter>(*integers());
    return false;
  }
  Parameter in_c() const {
    if constexpr (is_handle<Parameter>)
      return Conversion<Parameter>::to_c(*integers());
    else
      return *static_cast<const Parameter*>(address());
  }
};

// A handle that the call may change, or a pointer to data of the same form in both languages.
template <class Type>
requires(!is_handle<Type*>) class Argument<Type*> : public AnyArgument {
 public:
  using AnyArgument::AnyArgument;
  bool concerns_us() const {
    if constexpr (is_handle<Type>) return is_ours<Type>(*integers());
    return false;
  }
  Type* in_c() {
    if constexpr (is_handle<Type>) {
      now_ = before_ = Conversion<Type>::to_c(*integers());
      return &now_;
    } else {
      return static_cast<Type*>(address());
    }
  }
  void give_back() const {
    if constexpr (is_handle<Type>)
      if (now_ != before_) *integers() = Conversion<Type>::to_fortran(now_);
  }

 private:
  using Held = std::conditional_t<is_handle<Type>, Type, std::nullptr_t>;
  Held before_ = {}, now_ = {};
};

class Buffer : public AnyArgument {
 public:
  using AnyArgument::AnyArgument;
  bool concerns_us() const { return is_device(address()); }
  void* in_c() const {
    if (address() == &mpi_fortran_in_place_) return MPI_IN_PLACE;
    return address() == &mpi_fortran_bottom_ ? MPI_BOTTOM : address();
  }
};

// `count` requests.
class Requests : public AnyArgument {
 public:
  Requests(Address requests, Address count) : AnyArgument(requests), count_(integer(count)) {}
  bool concerns_us() const { return std::any_of(integers(), integers() + count_, is_own_integer); }
  MPI_Request* in_c() {
    for (int i = 0; i < count_; ++i) now_.push_back(MPI_Request_f2c(integers()[i]));
    before_ = now_;
    return now_.data();
  }
  void give_back() const {
    for (std::size_t i = 0; i < now_.size(); ++i)
      if (now_[i] != before_[i]) integers()[i] = MPI_Request_c2f(now_[i]);
  }

 private:
  int count_;
  std::vector<MPI_Request> now_, before_;
};

// One status, or `count` statuses.
class Statuses : public AnyArgument {
 public:
  explicit Statuses(Address status) : AnyArgument(status), statuses_(1) {}
  Statuses(Address statuses, Address count) : AnyArgument(statuses), statuses_(std::max(integer(count), 0)) {}
  MPI_Status* in_c() {
    if (address() == &mpi_fortran_status_ignore_) return MPI_STATUS_IGNORE;
    if (address() == &mpi_fortran_statuses_ignore_) return MPI_STATUSES_IGNORE;
    given_ = true;
    for (std::size_t i = 0; i < statuses_.size(); ++i) PMPI_Status_f2c(integers() + i * status_integers, &statuses_[i]);
    return statuses_.data();
  }
  void give_back() const {
    for (std::size_t i = 0; given_ && i < statuses_.size(); ++i)
      PMPI_Status_c2f(&statuses_[i], integers() + i * status_integers);
  }

 private:
  std::vector<MPI_Status> statuses_;
  bool given_ = false;
};

// Indices of requests, which Fortran counts from one: a single one, or `completed` (after the call) of them.
class Indices : public AnyArgument {
 public:
  explicit Indices(Address index) : AnyArgument(index) {}
  Indices(Address indices, Address completed) : AnyArgument(indices), completed_(completed) {}
  int* in_c() const { return integers(); }
  void give_back() const {
    const int count = completed_ == nullptr ? 1 : integer(completed_);
    for (int i = 0; count != MPI_UNDEFINED && i < count; ++i)
      if (integers()[i] != MPI_UNDEFINED) ++integers()[i];
  }

 private:
  Address completed_ = nullptr;
};

// Datatypes of the blocks at `operand`, one for each rank to exchange with; none in place.
class Types : public AnyArgument {
 public:
  Types(Address types, Address operand, Address comm, int (*ranks)(MPI_Comm))
      : AnyArgument(types), operand_(operand), comm_(comm), ranks_(ranks) {}
  const MPI_Datatype* in_c() {
    const int count = operand_.in_c() == MPI_IN_PLACE ? 0 : ranks_(PMPI_Comm_f2c(integer(comm_)));
    for (int i = 0; i < count; ++i) types_.push_back(PMPI_Type_f2c(integers()[i]));
    return types_.data();
  }

 private:
  Buffer operand_;
  Address comm_;
  int (*ranks_)(MPI_Comm);
  std::vector<MPI_Datatype> types_;
};

inline int targets(MPI_Comm comm) {
  return count_of(neighbours_of(comm).to);
}

inline int sources(MPI_Comm comm) {
  return count_of(neighbours_of(comm).from);
}

inline void give_code(Address error, int code) {
  if (error != nullptr) integer(error) = code;
}

// One call. original: Open MPI's function; null if its Fortran library was loaded such that it is not visible here, and
// then all calls go to C. receives: the call may get an envelope of a message in pieces.
template <bool receives, class... Parameters, class Original, class... Arguments>
void enter(int (*function)(Parameters...), Original* original, Address error, Arguments... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments));
  const bool may_be_offered = receives ? offers_on : peer_on;
  if (original != nullptr && !may_be_offered && !(arguments.concerns_us() || ...)) [[likely]]
    return original(arguments.address()..., error);
  const int code = function(arguments.in_c()...);
  (arguments.give_back(), ...);
  give_code(error, code);
}

}  // namespace plumb::interpose::fortran
