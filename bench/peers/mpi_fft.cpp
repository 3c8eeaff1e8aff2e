// The peer of mpi_fft on CPUs: FFTW's own transform over MPI, double, forward, out of place, in order (nothing left
// scrambled), by its measured plan. Points are a wave of one frequency, so that one point of the result is not 0.
//
//   peer_mpi_fft [SIZE [SAMPLES]]     log2 of the points, 20; 10. Prints the best sample's GFLOP/s by 5 n log2 n.
#include <fftw3-mpi.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <numbers>

namespace {

struct Part {
  std::ptrdiff_t room = 0, points_in = 0, first_in = 0, points_out = 0, first_out = 0;
};

void fill(fftw_complex* in, const Part& own, std::ptrdiff_t points, std::ptrdiff_t frequency) {
  for (std::ptrdiff_t i = 0; i < own.points_in; ++i) {
    const std::ptrdiff_t turns = (own.first_in + i) * frequency % points;
    const double angle = 2 * std::numbers::pi * static_cast<double>(turns) / static_cast<double>(points);
    in[i][0] = std::cos(angle);
    in[i][1] = std::sin(angle);
  }
}

// The largest distance of a point from n at the frequency and 0 elsewhere, in units of n.
double error(const fftw_complex* out, const Part& own, std::ptrdiff_t points, std::ptrdiff_t frequency) {
  double worst = 0;
  for (std::ptrdiff_t i = 0; i < own.points_out; ++i) {
    const double wanted = own.first_out + i == frequency ? static_cast<double>(points) : 0;
    worst = std::max(worst, std::hypot(out[i][0] - wanted, out[i][1]) / static_cast<double>(points));
  }
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

// Of the slowest rank.
double sample(fftw_plan plan) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  fftw_execute(plan);
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  fftw_mpi_init();
  const int size = count > 1 ? std::atoi(words[1]) : 20;
  const int samples = count > 2 ? std::atoi(words[2]) : 10;
  const std::ptrdiff_t points = std::ptrdiff_t{1} << size;
  const std::ptrdiff_t frequency = points / 3;
  Part own;
  own.room = fftw_mpi_local_size_1d(points, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_MEASURE, &own.points_in, &own.first_in,
                                    &own.points_out, &own.first_out);
  fftw_complex* in = fftw_alloc_complex(static_cast<std::size_t>(own.room));
  fftw_complex* out = fftw_alloc_complex(static_cast<std::size_t>(own.room));
  fftw_plan plan = fftw_mpi_plan_dft_1d(points, in, out, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_MEASURE);
  double best = std::numeric_limits<double>::infinity(), worst = 0;
  for (int i = 0; i < samples; ++i) {
    fill(in, own, points, frequency);  // a transform may overwrite it
    best = std::min(best, sample(plan));
    worst = std::max(worst, error(out, own, points, frequency));
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool right = worst <= 1e-12;
  if (rank == 0 && right) std::printf("%.6f\n", 5e-9 * static_cast<double>(points) * size / best);
  if (rank == 0 && !right) std::fprintf(stderr, "peer_mpi_fft: a point is wrong by %.1e n\n", worst);
  fftw_destroy_plan(plan);
  fftw_free(in);
  fftw_free(out);
  MPI_Finalize();
  return right ? 0 : 1;
}
