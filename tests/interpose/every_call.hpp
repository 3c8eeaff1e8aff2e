// A call of each function that the library wraps, made of its table by every_call.py.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

namespace plumb::every_call {

constexpr int elements = 8, tag = 7;

// What calls name. from and to have `elements` bytes.
struct Arguments {
  const void* from = nullptr;
  void* to = nullptr;
  MPI_Comm graph = MPI_COMM_NULL;  // this rank is its own neighbour
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Status status = {};
  int flag = 0, index = 0, completed = 0;
  std::vector<MPI_Datatype> types{MPI_BYTE};
};

// A list of one number, as long as the test.
template <class Number>
Number* list_of(Number number) {
  static std::array<Number, 4096> numbers;
  static std::size_t next = 0;
  Number* result = &numbers.at(next++ % numbers.size());
  *result = number;
  return result;
}

#ifdef OPEN_MPI
inline MPI_Fint c2f(MPI_Comm handle) {
  return MPI_Comm_c2f(handle);
}
inline MPI_Fint c2f(MPI_Datatype handle) {
  return MPI_Type_c2f(handle);
}
inline MPI_Fint c2f(MPI_File handle) {
  return MPI_File_c2f(handle);
}
inline MPI_Fint c2f(MPI_Group handle) {
  return MPI_Group_c2f(handle);
}
inline MPI_Fint c2f(MPI_Info handle) {
  return MPI_Info_c2f(handle);
}
inline MPI_Fint c2f(MPI_Op handle) {
  return MPI_Op_c2f(handle);
}
inline MPI_Fint c2f(MPI_Request handle) {
  return MPI_Request_c2f(handle);
}
inline MPI_Fint c2f(MPI_Win handle) {
  return MPI_Win_c2f(handle);
}
#endif

// Arguments of a function of Fortran: addresses of numbers and of its handles. MPICH's mpi_f08 has C's handles.
class Fortran {
 public:
  template <class Type>
  void* in(Type value) {
#ifdef OPEN_MPI
    if constexpr (std::is_pointer_v<Type>) return keep(c2f(value));
#endif
    return keep(value);
  }
  void* address(const void* address) {
    return const_cast<void*>(address);
  }
  void* out(const void* pointer) {
    return const_cast<void*>(pointer);
  }
#ifdef OPEN_MPI
  void* out(MPI_Request* handle) {
    return altered(c2f(*handle), [=](MPI_Fint integer) { *handle = MPI_Request_f2c(integer); });
  }
  void* out(MPI_Message* handle) {
    return altered(MPI_Message_c2f(*handle), [=](MPI_Fint integer) { *handle = MPI_Message_f2c(integer); });
  }
  void* out(MPI_Win* handle) {
    return altered(c2f(*handle), [=](MPI_Fint integer) { *handle = MPI_Win_f2c(integer); });
  }
  void* out(MPI_Status* status) {
    afterwards_.emplace_back([=, this] { MPI_Status_f2c(status_.data(), status); });
    return status_.data();
  }
#endif
  // What the call has altered goes to C's arguments.
  int finish() {
    for (const auto& each : afterwards_) each();
    return error;
  }

  MPI_Fint error = -1;

 private:
  template <class Type>
  void* keep(Type value) {
    auto& kept = kept_.emplace_back();
    return new (kept.data()) Type(value);
  }
  template <class GiveBack>
  void* altered(MPI_Fint integer, GiveBack give_back) {
    void* kept = keep(integer);
    afterwards_.emplace_back([=] { give_back(*static_cast<MPI_Fint*>(kept)); });
    return kept;
  }

  struct alignas(16) Kept : std::array<std::byte, 16> {};
  std::deque<Kept> kept_;
  std::vector<std::function<void()>> afterwards_;
  std::array<MPI_Fint, sizeof(MPI_Status) / sizeof(MPI_Fint)> status_{};
};

struct Entry {
  std::string name, of_int, group, how;
  bool is_large = false;
  bool reads = false, writes = false;  // names Arguments::from, to
  std::function<int(Arguments&)> call;
  std::function<int(Arguments&)> fortran;  // null where there is none
};

const std::vector<Entry>& entries();

}  // namespace plumb::every_call
