// sycl_program [unregistered|freed]: a program of MPI and SYCL, as its author would build it by an ordinary C++
// compiler, that sends its own memory of malloc_device. tests/python/test_mpi_device.py compiles and runs it.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "plumb_mpi_sycl.hpp"

namespace {

constexpr int numbers = 300000;  // 2.4 MB
constexpr std::size_t bytes = numbers * sizeof(double);

void check(bool right, const std::string& what) {
  if (!right) throw std::runtime_error(what);
}

void refused(int code, const char* part) {
  check(code != 0 && std::string(plumb_mpi_error()).find(part) != std::string::npos,
        std::string(part) + " is not said, but: " + plumb_mpi_error());
}

template <class Buffer, class = void>
struct TakesBuffer : std::false_type {};
template <class Buffer>
struct TakesBuffer<Buffer,
                   std::void_t<decltype(plumb_mpi_register(std::declval<sycl::queue>(), std::declval<Buffer&>(), 1))>>
    : std::true_type {};
static_assert(!TakesBuffer<sycl::buffer<int, 1>>::value, "a sycl::buffer has no address");

struct Program {
  sycl::queue queue{sycl::property::queue::in_order()};
  int rank = 0, other = 0;
  double* device = sycl::malloc_device<double>(2 * numbers, queue);  // sent, received
  double* received = device + numbers;

  std::vector<double> values(int of) const {
    std::vector<double> all(numbers);
    std::iota(all.begin(), all.end(), 1000.0 * of);
    return all;
  }
  void fill() {
    const auto sent = values(rank);
    queue.memcpy(device, sent.data(), bytes);
    queue.memset(received, 0xa5, bytes).wait();
  }
  std::vector<double> fetched(const double* from) {
    std::vector<double> all(numbers);
    queue.memcpy(all.data(), from, bytes).wait();
    return all;
  }
};

// Whole messages, parts of them, and a reduction, each into memory that held other bytes.
void exchange(Program& program) {
  program.fill();
  MPI_Request requests[2];
  MPI_Irecv(program.received, numbers, MPI_DOUBLE, program.other, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(program.device, numbers, MPI_DOUBLE, program.other, 1, MPI_COMM_WORLD, &requests[1]);
  refused(plumb_mpi_unregister(program.device), "is in use by an incomplete MPI call");
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  check(program.fetched(program.received) == program.values(program.other), "another message came");
  MPI_Sendrecv(program.device + 5, 1, MPI_DOUBLE, program.other, 2, program.received + 7, 1, MPI_DOUBLE, program.other,
               2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  auto expected = program.values(program.other);
  expected[7] = expected[5];
  check(program.fetched(program.received) == expected, "another number came, or at another place");
  MPI_Allreduce(program.device, program.received, numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < numbers; ++i) expected[static_cast<std::size_t>(i)] = 2.0 * i + 1000.0;
  check(program.fetched(program.received) == expected, "another sum came");
}

// Memory that the host can access goes to MPI as it is.
void exchange_host(Program& program) {
  for (double* memory : {sycl::malloc_host<double>(2, program.queue), sycl::malloc_shared<double>(2, program.queue)}) {
    memory[0] = program.rank + 0.5;
    refused(plumb_mpi_register(program.queue, memory, 16), "is not device memory of");
    MPI_Sendrecv(memory, 1, MPI_DOUBLE, program.other, 3, memory + 1, 1, MPI_DOUBLE, program.other, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(plumb_mpi_is_device(memory) == 0 && memory[1] == program.other + 0.5, "another number came to the host");
    sycl::free(memory, program.queue);
  }
}

void refuse(Program& program) {
  refused(plumb_mpi_register(program.queue, program.device, 2 * bytes), "is registered already");
  refused(plumb_mpi_register(program.queue, program.received, 8), "which are registered already");
  sycl::queue stranger{sycl::context(program.queue.get_device()), program.queue.get_device()};
  double* const strange = sycl::malloc_device<double>(1, stranger);
  refused(plumb_mpi_register(program.queue, strange, 8), "in the context of this queue");
  sycl::free(strange, stranger);
  double* const small = sycl::malloc_device<double>(1, program.queue);
  refused(plumb_mpi_register(program.queue, small, bytes * 100), "exceed the program's allocation");
  sycl::free(small, program.queue);
}

void run(const std::string& wrong) {
  Program program;
  MPI_Comm_rank(MPI_COMM_WORLD, &program.rank);
  program.other = 1 - program.rank;
  check(plumb_mpi_register(program.queue, program.device, 2 * bytes) == 0, plumb_mpi_error());
  exchange(program);
  exchange_host(program);
  refuse(program);
  if (wrong == "freed") sycl::free(program.device, program.queue);
  if (wrong != "freed") check(plumb_mpi_unregister(program.device) == 0, plumb_mpi_error());
  if (!wrong.empty()) MPI_Send(program.device, 1, MPI_DOUBLE, program.other, 4, MPI_COMM_WORLD);
  sycl::free(program.device, program.queue);
  if (program.rank == 0) std::puts("all is as it should be");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sycl_program: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
