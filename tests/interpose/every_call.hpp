// A call of each function that the library wraps, made of its table by every_call.py.
#pragma once

#include <mpi.h>

#include <array>
#include <functional>
#include <string>
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
  std::array<long, 64> zeros{};
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

struct Entry {
  std::string name, of_int, group, how;
  bool is_large = false;
  bool reads = false, writes = false;  // names Arguments::from, to
  std::function<int(Arguments&)> call;
  std::function<void(Arguments&)> fortran;  // of a function that is refused; null where there is none
};

const std::vector<Entry>& entries();

}  // namespace plumb::every_call
