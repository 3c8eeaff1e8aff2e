#include "groups.hpp"

#include <mpi.h>

#include <array>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "plumb_mpi.h"

namespace plumb::doors {

namespace {

constexpr int count = 1000;  // numbers to or from each rank

class DeviceNumbers {
 public:
  explicit DeviceNumbers(const std::vector<int>& numbers) : bytes_(numbers.size() * sizeof(int)) {
    if (plumb_mpi_alloc(bytes_, &address_) != 0) throw std::runtime_error(plumb_mpi_error());
    plumb_mpi_copy(address_, numbers.data(), bytes_);
  }
  ~DeviceNumbers() { plumb_mpi_free(address_); }
  DeviceNumbers(const DeviceNumbers&) = delete;
  DeviceNumbers& operator=(const DeviceNumbers&) = delete;
  int* address() const { return static_cast<int*>(address_); }
  std::vector<int> numbers() const {
    std::vector<int> read(bytes_ / sizeof(int));
    plumb_mpi_copy(read.data(), address_, bytes_);
    return read;
  }

 private:
  std::size_t bytes_;
  void* address_ = nullptr;
};

using Call = std::function<void(const int* from, int* to)>;

void compare(const std::string& name, int rank, std::size_t size, const Call& call) {
  std::vector<int> from(size), expected(size, -1);
  for (std::size_t i = 0; i < size; ++i) from[i] = static_cast<int>(i) * 7 + rank * 100003;
  const DeviceNumbers device_from(from), device_to(expected);
  call(from.data(), expected.data());
  call(device_from.address(), device_to.address());
  if (device_to.numbers() != expected || device_from.numbers() != from)
    throw std::runtime_error(name + " between two groups differs on device memory");
}

}  // namespace

void try_groups() {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool upper = rank >= ranks / 2;
  MPI_Comm half = MPI_COMM_NULL, comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, upper ? 1 : 0, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : ranks / 2, 1, &comm);
  int own = 0, others = 0;
  MPI_Comm_rank(comm, &own);
  MPI_Comm_remote_size(comm, &others);
  const std::size_t size = static_cast<std::size_t>(others) * count;
  // The first rank of the lower half is the root.
  const int other_ranks = own == 0 ? MPI_ROOT : MPI_PROC_NULL, root = upper ? 0 : other_ranks;

  const std::array<std::pair<const char*, Call>, 8> calls{{
      {"MPI_Sendrecv",
       [&](const int* from, int* to) {
         MPI_Sendrecv(from, count, MPI_INT, own, 3, to, count, MPI_INT, own, 3, comm, MPI_STATUS_IGNORE);
       }},
      {"MPI_Bcast",
       [&](const int* from, int* to) { MPI_Bcast(upper ? to : const_cast<int*>(from), count, MPI_INT, root, comm); }},
      {"MPI_Gather",
       [&](const int* from, int* to) { MPI_Gather(from, count, MPI_INT, to, count, MPI_INT, root, comm); }},
      {"MPI_Scatter",
       [&](const int* from, int* to) { MPI_Scatter(from, count, MPI_INT, to, count, MPI_INT, root, comm); }},
      {"MPI_Allgather",
       [&](const int* from, int* to) { MPI_Allgather(from, count, MPI_INT, to, count, MPI_INT, comm); }},
      {"MPI_Alltoall", [&](const int* from, int* to) { MPI_Alltoall(from, count, MPI_INT, to, count, MPI_INT, comm); }},
      {"MPI_Reduce", [&](const int* from, int* to) { MPI_Reduce(from, to, count, MPI_INT, MPI_BXOR, root, comm); }},
      {"MPI_Allreduce", [&](const int* from, int* to) { MPI_Allreduce(from, to, count, MPI_INT, MPI_SUM, comm); }},
  }};
  for (const auto& [name, call] : calls) compare(name, rank, size, call);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&half);
}

}  // namespace plumb::doors
