// The bare loops that b_eff between two hosts is measured beside. Per round a message to the next rank and one to the
// one before: by two MPI_Sendrecv, one after the other, and with both under way at once, as b_eff has them. Usage:
// mpirun -np 2 peer_mpi_sendrecv BYTES REPETITIONS. Prints seconds of a round on the slowest rank, the median, of each.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

double median_seconds(int repetitions, const std::function<void()>& round) {
  std::vector<double> times;
  for (int i = 0; i <= repetitions; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    round();
    double own = MPI_Wtime() - begin, slowest = 0;
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (i > 0) times.push_back(slowest);  // the first connects
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int bytes = std::atoi(argc > 1 ? argv[1] : "16777216"), repetitions = std::atoi(argc > 2 ? argv[2] : "10");
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  const auto size = static_cast<std::size_t>(bytes);
  std::vector<char> sent(size, static_cast<char>(rank + 1)), from_before(size), from_next(size);
  const auto exchange = [&](int to, int from, std::vector<char>& received, int tag) {
    MPI_Sendrecv(sent.data(), bytes, MPI_BYTE, to, tag, received.data(), bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  };
  const double one_by_one = median_seconds(repetitions, [&] {
    exchange(next, before, from_before, 0);
    exchange(before, next, from_next, 1);
  });
  const double at_once = median_seconds(repetitions, [&] {
    MPI_Request all[4];
    MPI_Irecv(from_before.data(), bytes, MPI_BYTE, before, 0, MPI_COMM_WORLD, &all[0]);
    MPI_Irecv(from_next.data(), bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD, &all[1]);
    MPI_Isend(sent.data(), bytes, MPI_BYTE, next, 0, MPI_COMM_WORLD, &all[2]);
    MPI_Isend(sent.data(), bytes, MPI_BYTE, before, 1, MPI_COMM_WORLD, &all[3]);
    MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
  });
  if (rank == 0) std::printf("%.9f %.9f\n", one_by_one, at_once);
  MPI_Finalize();
}
