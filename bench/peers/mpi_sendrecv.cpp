// The bare loop that b_eff between two hosts is measured beside: per round two MPI_Sendrecv, to the next rank and to
// the one before. Usage: mpirun -np 2 peer_mpi_sendrecv BYTES REPETITIONS. Prints seconds of a round on the slowest
// rank, the median.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int bytes = std::atoi(argc > 1 ? argv[1] : "16777216"), repetitions = std::atoi(argc > 2 ? argv[2] : "10");
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  std::vector<char> sent(static_cast<std::size_t>(bytes), static_cast<char>(rank + 1)), received(sent.size());
  const auto exchange = [&](int to, int from) {
    MPI_Sendrecv(sent.data(), bytes, MPI_BYTE, to, 0, received.data(), bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  };
  std::vector<double> times;
  for (int i = 0; i <= repetitions; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    exchange(next, before);
    exchange(before, next);
    double own = MPI_Wtime() - begin, slowest = 0;
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (i > 0) times.push_back(slowest);  // the first connects
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  if (rank == 0) std::printf("%.9f\n", times[times.size() / 2]);
  MPI_Finalize();
}
