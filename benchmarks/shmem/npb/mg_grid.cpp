#include "benchmarks/shmem/npb/mg_grid.hpp"

#include <algorithm>
#include <limits>

#include "benchmarks/shmem/npb/lanes.hpp"

namespace plumb::npb::mg {

Three grid_of(int ranks, int points) {
  Three best{1, 1, ranks};
  double least = std::numeric_limits<double>::infinity();
  for (int x = 1; x <= ranks; ++x)
    for (int y = x; y <= ranks / x; ++y) {
      const int z = ranks / x / y;
      if (x * y * z != ranks || z < y) continue;
      const double n = points;
      const double surface = (x > 1 ? n / y * n / z : 0) + (y > 1 ? n / x * n / z : 0) + (z > 1 ? n / x * n / y : 0);
      if (surface < least) {
        least = surface;
        best = {x, y, z};
      }
    }
  return best;
}

Extent Extent::finest(int points, const Three& grid, const Three& place) {
  Extent box{points, {}, {}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t n = points, c = place[axis];
    box.low[axis] = static_cast<int>(n * c / grid[axis]);
    box.size[axis] = static_cast<int>(n * (c + 1) / grid[axis]) - box.low[axis];
  }
  return box;
}

Extent Extent::coarser() const {
  Extent box{points / 2, {}, {}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box.low[axis] = low[axis] / 2;
    box.size[axis] = (low[axis] + size[axis]) / 2 - low[axis] / 2;
  }
  return box;
}

std::size_t Extent::count() const {
  return std::size_t{1} * size[0] * size[1] * size[2];
}

Three Levels::place_of(int rank, const Three& grid) {
  return {rank % grid[0], rank / grid[0] % grid[1], rank / grid[0] / grid[1]};
}

std::size_t face(const Extent& box, int axis) {
  const auto [x, y, z] = box.size;
  return std::size_t{1} * (axis == 0 ? y : x + 2) * (axis == 2 ? y + 2 : z);
}

int neighbour(const Three& place, const Three& grid, int axis, int by) {
  Three to = place;
  to[axis] = (to[axis] + by + grid[axis]) % grid[axis];
  return to[0] + grid[0] * (to[1] + grid[1] * to[2]);
}

int least_size(int points, int ranks) {
  const Three grid = grid_of(ranks, points);
  return points / *std::max_element(grid.begin(), grid.end());
}

Levels::Levels(int points, int rank, int ranks) : grid(grid_of(ranks, points)) {
  constexpr int small = 8;  // points: from here down, messages cost more than the work
  while (1 << finest < points) ++finest;
  gathered = ranks == 1 ? finest : finest - 1;
  while (gathered > 1 && ranks > 1 && 1 << gathered > small && least_size(1 << gathered, ranks) >= 3) --gathered;
  std::vector<Extent> fine{Extent::finest(points, grid, place_of(rank, grid))};  // finest first
  while (fine.back().points > 1) fine.push_back(fine.back().coarser());
  for (int level = 0; level <= finest; ++level)
    boxes.push_back(level <= gathered ? Extent::whole(1 << level) : fine[finest - level]);
  part = fine[finest - gathered];
}

Pair sources(const Extent& coarse, const Extent& fine, int axis, int k) {
  const int point = fine.low[axis] + k - 1;  // -1 at least
  const int first = (point + 1) / 2 - 1;     // floor of (point - 1) / 2
  const int local = first - coarse.low[axis] + 1;
  return {local, point % 2 == 0 ? local + 1 : local};
}

namespace {

// Of each point of a row, halo included: the sums of the four neighbours across it, and of the four at its corners.
[[gnu::always_inline]] inline void sum_across(const Extent& box, const double* at, double* faces, double* edges) {
  const std::size_t row = box.row(), plane = box.plane();
#pragma GCC ivdep
  for (std::size_t i = 0; i < row; ++i) {
    const double *c = at + i, *lower = c - plane, *upper = c + plane;
    faces[i] = *(c - row) + *(c + row) + *lower + *upper;
    edges[i] = *(lower - row) + *(lower + row) + *(upper - row) + *(upper + row);
  }
}

[[gnu::always_inline]] inline void restrict_row(const double* r, const double* faces, const double* edges, double* out,
                                                std::ptrdiff_t n) {
#pragma GCC ivdep
  for (std::ptrdiff_t i = 0; i < n; ++i)
    out[i] = 0.5 * r[2 * i] + 0.25 * (r[2 * i - 1] + r[2 * i + 1] + faces[2 * i]) +
             0.125 * (faces[2 * i - 1] + faces[2 * i + 1] + edges[2 * i]) +
             0.0625 * (edges[2 * i - 1] + edges[2 * i + 1]);
}

template <bool adds>
[[gnu::always_inline]] inline void interpolate_any(const Extent& coarse, const double* from, const Extent& fine,
                                                   double* to, int k, double* z) {
  const std::size_t row = coarse.row();
  const Pair planes = sources(coarse, fine, 2, k);
  for (int j = 0; j <= fine.size[1] + 1; ++j) {
    const Pair rows = sources(coarse, fine, 1, j);
    const double *a = from + coarse.at(0, rows.first, planes.first), *b = from + coarse.at(0, rows.last, planes.first),
                 *c = from + coarse.at(0, rows.first, planes.last), *d = from + coarse.at(0, rows.last, planes.last);
#pragma GCC ivdep
    for (std::size_t i = 0; i < row; ++i) z[i] = 0.25 * (a[i] + b[i] + c[i] + d[i]);
    // Pairs of fine points: on a coarse one, and between it and the next.
    double* out = to + fine.at(0, j, k);
    const int n = fine.size[0] + 2;
    const Pair first = sources(coarse, fine, 0, 0);
    const double* source = z + first.first;
    int i = 0;
    const auto put = [&](double value) {
      out[i] = adds ? out[i] + value : value;
      ++i;
    };
    if (first.first != first.last) {
      put(0.5 * (source[0] + source[1]));
      ++source;
    }
    const int pairs = (n - i) / 2;
    double* const begin = out + i;
#pragma GCC ivdep
    for (std::ptrdiff_t c2 = 0; c2 < pairs; ++c2) {
      const double on = source[c2], between = 0.5 * (source[c2] + source[c2 + 1]);
      begin[2 * c2] = adds ? begin[2 * c2] + on : on;
      begin[2 * c2 + 1] = adds ? begin[2 * c2 + 1] + between : between;
    }
    i += 2 * pairs;
    if (i < n) put(source[pairs]);
  }
}

}  // namespace

void residual(const Extent& box, const double* u, const double* v, double* r, int k, double* scratch) {
  with_lanes([&]<class V> [[gnu::always_inline]] () {
    const std::size_t n = box.row() - 2;
    double *u1 = scratch, *u2 = scratch + box.row();
    constexpr double a0 = operator_a[0], a2 = operator_a[2], a3 = operator_a[3];
    for (int j = 1; j <= box.size[1]; ++j) {
      const double *at = u + box.at(0, j, k), *from = v + box.at(0, j, k);
      double* to = r + box.at(0, j, k);
      sum_across(box, at, u1, u2);
#pragma GCC ivdep
      for (std::size_t i = 1; i <= n; ++i)
        to[i] = from[i] - a0 * at[i] - a2 * (u2[i] + u1[i - 1] + u1[i + 1]) - a3 * (u2[i - 1] + u2[i + 1]);
    }
  });
}

void smooth(const Extent& box, const Stencil& s, const double* r, double* u, int k, double* scratch) {
  with_lanes([&]<class V> [[gnu::always_inline]] () {
    const std::size_t n = box.row() - 2;
    double *r1 = scratch, *r2 = scratch + box.row();
    const double s0 = s[0], s1 = s[1], s2 = s[2];  // s[3] is 0
    for (int j = 1; j <= box.size[1]; ++j) {
      const double* at = r + box.at(0, j, k);
      double* to = u + box.at(0, j, k);
      sum_across(box, at, r1, r2);
#pragma GCC ivdep
      for (std::size_t i = 1; i <= n; ++i)
        to[i] += s0 * at[i] + s1 * (at[i - 1] + at[i + 1] + r1[i]) + s2 * (r2[i] + r1[i - 1] + r1[i + 1]);
    }
  });
}

void restrict_to(const Extent& fine, const double* r, const Extent& to, const Extent& part, double* coarse, int k,
                 int offset, double* scratch) {
  with_lanes([&]<class V> [[gnu::always_inline]] () {
    const auto fine_at = [&](int axis, int local) {
      return 2 * (local - 1 + to.low[axis]) + offset - fine.low[axis] + 1;
    };
    double *x1 = scratch, *y1 = scratch + fine.row();
    const int first_i = part.low[0] - to.low[0] + 1, first_j = part.low[1] - to.low[1] + 1;
    for (int j = first_j; j < first_j + part.size[1]; ++j) {
      const double* at = r + fine.at(0, fine_at(1, j), fine_at(2, k));
      sum_across(fine, at, x1, y1);
      double* const out = coarse + to.at(first_i, j, k);
      const double* const f = at + fine_at(0, first_i);
      const double *fx = x1 + fine_at(0, first_i), *fy = y1 + fine_at(0, first_i);
      restrict_row(f, fx, fy, out, part.size[0]);
    }
  });
}

void interpolate(const Extent& coarse, const double* from, const Extent& fine, double* to, int k, bool adds,
                 double* scratch) {
  with_lanes([&]<class V> [[gnu::always_inline]] () {
    adds ? interpolate_any<true>(coarse, from, fine, to, k, scratch)
         : interpolate_any<false>(coarse, from, fine, to, k, scratch);
  });
}

}  // namespace plumb::npb::mg
