// NPB's MG over bare MPI: V-cycles on a periodic cube cut along z into equal slabs; halos by MPI_Sendrecv. Levels of
// fewer than two planes a rank are gathered and computed by all.
//
//   mpirun -np 2 peer_mpi_mg POINTS [ITERATIONS]
//
// POINTS of an axis and the number of ranks are powers of two. Prints the seconds of all iterations on the slowest rank
// (after one more, untimed), and the final residual's norm.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

int rank_here = 0, all_ranks = 1;

// A level's part of this rank: n x n x planes points from plane `first` on, with a halo of one point.
struct Level {
  int n = 0, planes = 0, first = 0;
  std::vector<double> u, r;

  std::size_t row() const { return static_cast<std::size_t>(n) + 2; }
  std::size_t plane() const { return row() * row(); }
  std::size_t at(int j, int k) const {
    return static_cast<std::size_t>(k) * plane() + static_cast<std::size_t>(j) * row();
  }
  bool is_cut() const { return planes < n; }
};

// Sums of the four nearest and the four diagonal neighbours of a row's points, across y and z.
void sums(const double* c, std::size_t row, std::size_t plane, double* near, double* far) {
  const double *down = c - plane, *up = c + plane;
  for (std::size_t i = 0; i < row; ++i) {
    near[i] = c[i - row] + c[i + row] + down[i] + up[i];
    far[i] = down[i - row] + down[i + row] + up[i - row] + up[i + row];
  }
}

class Solver {
 public:
  Solver(int points, const std::array<double, 3>& smoother) : smoother_(smoother) {
    for (int n = 2; n <= points; n *= 2) {
      Level level;
      level.n = level.planes = n;
      if (n >= 2 * all_ranks && all_ranks > 1) {
        level.planes = n / all_ranks;
        level.first = rank_here * level.planes;
      }
      const std::size_t size = level.plane() * static_cast<std::size_t>(level.planes + 2);
      level.u.assign(size, 0);
      level.r.assign(size, 0);
      levels_.push_back(std::move(level));
    }
    v_.assign(levels_.back().u.size(), 0);
    near_.resize(levels_.back().row());
    far_.resize(levels_.back().row());
    set_charges();
  }

  void begin() {
    std::fill(levels_.back().u.begin(), levels_.back().u.end(), 0.0);
    residual(levels_.back(), v_);
  }

  // With the residual after it.
  void cycle() {
    for (std::size_t l = levels_.size() - 1; l > 0; --l) restrict_to(levels_[l], levels_[l - 1]);
    std::fill(levels_[0].u.begin(), levels_[0].u.end(), 0.0);
    smooth(levels_[0]);
    for (std::size_t l = 1; l < levels_.size(); ++l) {
      const bool last = l + 1 == levels_.size();
      if (!last) std::fill(levels_[l].u.begin(), levels_[l].u.end(), 0.0);
      interpolate(levels_[l - 1], levels_[l]);
      residual(levels_[l], last ? v_ : levels_[l].r);
      smooth(levels_[l]);
    }
    residual(levels_.back(), v_);
  }

  double norm() const {
    const Level& l = levels_.back();
    double sum = 0;
    for (int k = 1; k <= l.planes; ++k)
      for (int j = 1; j <= l.n; ++j)
        for (int i = 1; i <= l.n; ++i)
          sum += l.r[l.at(j, k) + static_cast<std::size_t>(i)] * l.r[l.at(j, k) + static_cast<std::size_t>(i)];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return std::sqrt(sum / std::pow(l.n, 3));
  }

 private:
  // +1 at the ten largest of the random numbers, -1 at the ten smallest; each rank makes them all.
  void set_charges() {
    const Level& l = levels_.back();
    const auto n = static_cast<std::uint64_t>(l.n);
    std::vector<std::pair<double, std::uint64_t>> low, high;
    std::uint64_t x = 314159265;
    for (std::uint64_t point = 0; point < n * n * n; ++point) {
      x = x * 1220703125 & ((std::uint64_t{1} << 46) - 1);
      const double value = static_cast<double>(x) * 0x1p-46;
      for (auto* list : {&low, &high}) {
        const double order = list == &low ? value : -value;
        if (list->size() == 10 && order >= list->back().first) continue;
        list->insert(std::upper_bound(list->begin(), list->end(), std::pair{order, point}), {order, point});
        if (list->size() > 10) list->pop_back();
      }
    }
    for (const auto* list : {&low, &high})
      for (const auto& [order, point] : *list) {
        const int z = static_cast<int>(point / n / n) - l.first;
        if (z >= 0 && z < l.planes)
          v_[l.at(static_cast<int>(point / n % n) + 1, z + 1) + point % n + 1] = list == &low ? -1 : 1;
      }
  }

  static void halo(const Level& l, std::vector<double>& grid) {
    const auto n = static_cast<std::size_t>(l.n);
    for (int k = 1; k <= l.planes; ++k) {
      for (int j = 1; j <= l.n; ++j) {
        double* row = grid.data() + l.at(j, k);
        row[0] = row[n];
        row[n + 1] = row[1];
      }
      std::copy_n(grid.data() + l.at(l.n, k), l.row(), grid.data() + l.at(0, k));
      std::copy_n(grid.data() + l.at(1, k), l.row(), grid.data() + l.at(l.n + 1, k));
    }
    double *low = grid.data(), *high = grid.data() + l.at(0, l.planes + 1);
    double *first = grid.data() + l.at(0, 1), *last = grid.data() + l.at(0, l.planes);
    if (!l.is_cut()) {
      std::copy_n(last, l.plane(), low);
      std::copy_n(first, l.plane(), high);
      return;
    }
    const int up = (rank_here + 1) % all_ranks, down = (rank_here + all_ranks - 1) % all_ranks;
    const int count = static_cast<int>(l.plane());
    MPI_Sendrecv(last, count, MPI_DOUBLE, up, 0, low, count, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(first, count, MPI_DOUBLE, down, 1, high, count, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  void residual(Level& l, const std::vector<double>& v) {
    const std::size_t row = l.row();
    for (int k = 1; k <= l.planes; ++k)
      for (int j = 1; j <= l.n; ++j) {
        const double *u = l.u.data() + l.at(j, k), *right = v.data() + l.at(j, k);
        double* r = l.r.data() + l.at(j, k);
        sums(u, row, l.plane(), near_.data(), far_.data());
        for (std::size_t i = 1; i + 1 < row; ++i)
          r[i] =
              right[i] + 8. / 3 * u[i] - (far_[i] + near_[i - 1] + near_[i + 1]) / 6 - (far_[i - 1] + far_[i + 1]) / 12;
      }
    halo(l, l.r);
  }

  void smooth(Level& l) {
    const std::array<double, 3>& s = smoother_;
    const std::size_t row = l.row();
    for (int k = 1; k <= l.planes; ++k)
      for (int j = 1; j <= l.n; ++j) {
        const double* r = l.r.data() + l.at(j, k);
        double* u = l.u.data() + l.at(j, k);
        sums(r, row, l.plane(), near_.data(), far_.data());
        for (std::size_t i = 1; i + 1 < row; ++i)
          u[i] +=
              s[0] * r[i] + s[1] * (r[i - 1] + r[i + 1] + near_[i]) + s[2] * (far_[i] + near_[i - 1] + near_[i + 1]);
      }
    halo(l, l.u);
  }

  // Coarse point j lies on fine point 2j + 1.
  void restrict_to(Level& fine, Level& coarse) {
    const int planes = fine.planes / 2;
    const bool gathers = fine.is_cut() && !coarse.is_cut();
    const int first = gathers ? rank_here * planes : 0;
    for (int k = 1; k <= planes; ++k)
      for (int j = 1; j <= coarse.n; ++j) {
        const double* r = fine.r.data() + fine.at(2 * j, 2 * k);
        double* out = coarse.r.data() + coarse.at(j, first + k);
        sums(r, fine.row(), fine.plane(), near_.data(), far_.data());
        for (std::size_t i = 1; i <= static_cast<std::size_t>(coarse.n); ++i)
          out[i] = r[2 * i] / 2 + (r[2 * i - 1] + r[2 * i + 1] + near_[2 * i]) / 4 +
                   (near_[2 * i - 1] + near_[2 * i + 1] + far_[2 * i]) / 8 + (far_[2 * i - 1] + far_[2 * i + 1]) / 16;
      }
    if (gathers)
      MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, coarse.r.data() + coarse.plane(),
                    static_cast<int>(coarse.plane()) * planes, MPI_DOUBLE, MPI_COMM_WORLD);
    halo(coarse, coarse.r);
  }

  // The fine grid's halo follows from the coarse one's.
  void interpolate(const Level& coarse, Level& fine) {
    const std::size_t row = coarse.row();
    for (int k = 0; k < fine.planes + 2; ++k) {
      // Fine point k - 1 + first lies on coarse point (k - 2 + first) / 2, or between two.
      const int point = k - 1 + fine.first, below = (point + 1) / 2 - 1 - coarse.first + 1,
                above = below + (point % 2 == 0 ? 1 : 0);
      for (int j = 0; j < fine.n + 2; ++j) {
        const int left = j / 2, right = left + j % 2;
        const double *a = coarse.u.data() + coarse.at(left, below), *b = coarse.u.data() + coarse.at(right, below),
                     *c = coarse.u.data() + coarse.at(left, above), *d = coarse.u.data() + coarse.at(right, above);
        for (std::size_t i = 0; i < row; ++i) near_[i] = (a[i] + b[i] + c[i] + d[i]) / 4;
        double* out = fine.u.data() + fine.at(j, k);
        for (std::size_t i = 0; i + 1 < row; ++i) {
          out[2 * i] += near_[i];
          out[2 * i + 1] += (near_[i] + near_[i + 1]) / 2;
        }
      }
    }
  }

  std::array<double, 3> smoother_;
  std::vector<Level> levels_;
  std::vector<double> v_, near_, far_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_here);
  MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
  if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  const int iterations = argc > 2 ? std::atoi(argv[2]) : 4;
  constexpr std::array<double, 3> of_small{-3. / 8, 1. / 32, -1. / 64}, of_large{-3. / 17, 1. / 33, -1. / 61};
  Solver solver(std::atoi(argv[1]), iterations > 4 ? of_large : of_small);  // from class B on: 20 iterations
  solver.begin();
  solver.cycle();
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  solver.begin();
  for (int i = 0; i < iterations; ++i) solver.cycle();
  const double norm = solver.norm();
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank_here == 0) std::printf("%.9f %.13e\n", seconds, norm);
  MPI_Finalize();
}
