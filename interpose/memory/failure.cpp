#include "interpose/memory/failure.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace plumb::interpose {

void abort_call(const char* call, const std::string& sentence) {
  int rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string line = fmt::format("libplumb-mpi-device: rank {}: {}: {}\n", rank, call, sentence);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  // MPICH's launcher ends the processes before it has forwarded their last output.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  PMPI_Abort(MPI_COMM_WORLD, 3);
  std::abort();
}

}  // namespace plumb::interpose
