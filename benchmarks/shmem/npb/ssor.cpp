// LU: symmetric successive over-relaxation. A step sweeps the cube from its first corner to its last and back; planes
// follow each other through the ranks' pencils as a wavefront.
#include <utility>

#include "benchmarks/shmem/npb/equations.hpp"
#include "benchmarks/shmem/npb/flow.hpp"

namespace plumb::npb {

namespace {

constexpr double omega = 1.2;
constexpr int planes_ahead = 4;

// v moved up by one lane, with `first` in lane 0.
template <class V, int... lane>
[[gnu::always_inline]] inline void shift(const V& v, double first, V& out, std::integer_sequence<int, lane...>) {
  const V other = splat<V>(first);
  out = __builtin_shufflevector(other, v, 0, width<V> + lane...);
}

// One plane of a sweep; +1: the lower, from the first corner; -1: the upper, from the last.
template <int sign>
struct Plane {
  const Scheme& scheme;
  Tile& tile;
  int k;

  // sum += (a J + b (N + d)) y: A_d of the point before in the lower sweep, C_d of the one after in the upper.
  template <int D, class V>
  [[gnu::always_inline]] inline void add_neighbour(const V u[variables], const V y[variables], V sum[variables]) const {
    V block[variables][variables];
    jacobian<D, true>(scheme, primitive(u), -sign * scheme.dt * scheme.t2, -scheme.dt * scheme.t1, 0, block);
#pragma GCC unroll 5
    for (int m = 0; m < variables; ++m)
#pragma GCC unroll 5
      for (int n = 0; n < variables; ++n)
        if (may_be_filled(D, m, n)) sum[m] += block[m][n] * y[n];
  }

  // y multiplied by the inverse of G, which has a diagonal, a first column and a last row.
  template <class V>
  [[gnu::always_inline]] inline void solve(const V u[variables], V y[variables]) const {
    const Primitive<V> p = primitive(u);
    const double factor = 2 * scheme.dt * scheme.t1;
    V g[variables][variables], more[variables][variables];
    jacobian<0, false>(scheme, p, 0, factor, 1, g);
    jacobian<1, false>(scheme, p, 0, factor, 0, more);
    add_filled(more, g);
    jacobian<2, false>(scheme, p, 0, factor, 0, more);
    add_filled(more, g);
    y[0] = y[0] / g[0][0];
    V rest = y[4] - g[4][0] * y[0];
    for (int e = 1; e < 4; ++e) {
      y[e] = (y[e] - g[e][0] * y[0]) / g[e][e];
      rest -= g[4][e] * y[e];
    }
    y[4] = rest / g[4][4];
  }
  template <class V>
  [[gnu::always_inline]] static inline void add_filled(const V more[variables][variables], V g[variables][variables]) {
    for (int m = 0; m < variables; ++m) {
      g[m][m] += more[m][m];
      if (m > 0) g[m][0] += more[m][0];
      if (m > 0 && m < 4) g[4][m] += more[4][m];
    }
  }

  template <class V>
  [[gnu::always_inline]] static inline void read(const double* from, std::ptrdiff_t field, V out[variables]) {
    for (int m = 0; m < variables; ++m) out[m] = load<V, true>(from + m * field);
  }

  // What the plane takes from the one before, for which no message is needed: the lower sweep
  // y <- G^-1 (y - omega A_z y(k-1)), the upper y <- y - omega G^-1 C_z y(k+1).
  template <class V>
  [[gnu::always_inline]] inline void across() const {
    const std::ptrdiff_t field = tile.field(), back = -sign * tile.stride(2);
    for (int j = tile.begin(1); j < tile.end(1); ++j)
      for (int i = tile.begin(0); i < tile.end(0); i += width<V>) {
        const std::ptrdiff_t at = tile.place(i, j, k);
        V u[variables], u_back[variables], y[variables], y_back[variables], sum[variables] = {};
        read(tile.u.data() + at, field, u);
        read(tile.u.data() + at + back, field, u_back);
        read(tile.r.data() + at, field, y);
        read(tile.r.data() + at + back, field, y_back);
        add_neighbour<2>(u_back, y_back, sum);
        for (int m = 0; m < variables; ++m) sum[m] = (sign > 0 ? y[m] : V{}) - omega * sum[m];
        solve(u, sum);
        for (int m = 0; m < variables; ++m)
          store<V, true>(sign > 0 ? sum[m] : y[m] + sum[m], tile.r.data() + at + m * field, 1,
                         std::min(width<V>, tile.end(0) - i));
      }
  }

  // The rest, y <- y - omega G^-1 (X y(i-sign) + Y y(j-sign)): each lane has a row, and is a column behind the lane
  // before it; so its neighbour in y is that lane's last result, and in x its own.
  template <class V>
  [[gnu::always_inline]] inline void within() const {
    const int rows = tile.end(1) - tile.begin(1);
    for (int row = 0; row < rows; row += width<V>) skewed<V>(row, std::min(width<V>, rows - row));
  }

  // Rows `row` to row + lanes - 1 from the sweep's first one on.
  template <class V>
  [[gnu::always_inline]] inline void skewed(int row, int lanes) const {
    const int columns = tile.end(0) - tile.begin(0);
    const std::ptrdiff_t field = tile.field();
    const int i = sign > 0 ? tile.begin(0) : tile.end(0) - 1, j = sign > 0 ? tile.begin(1) : tile.end(1) - 1;
    const std::ptrdiff_t first = tile.place(i, j + sign * row, k);
    V u[variables] = {}, y[variables] = {}, u_x[variables], y_x[variables], u_y[variables], y_y[variables];
    for (int m = 0; m < variables; ++m) u[m] = splat<V>(1);
    for (int s = -1; s < columns + lanes - 1; ++s) {
      std::ptrdiff_t at[width<V>];
      for (int l = 0; l < width<V>; ++l) {
        const int lane = std::min(l, lanes - 1);
        at[l] = first + sign * (std::clamp(s - lane, -1, columns - 1) + lane * tile.stride(1));
      }
      const std::ptrdiff_t beside = at[0] - sign * tile.stride(1);
      for (int m = 0; m < variables; ++m) {
        u_x[m] = u[m];
        y_x[m] = y[m];
        const auto others = std::make_integer_sequence<int, width<V> - 1>();
        shift(u_x[m], tile.u[beside + m * field], u_y[m], others);
        shift(y_x[m], tile.r[beside + m * field], y_y[m], others);
        for (int l = 0; l < width<V>; ++l) {
          u[m][l] = tile.u[at[l] + m * field];
          y[m][l] = tile.r[at[l] + m * field];
        }
      }
      V sum[variables] = {};
      add_neighbour<0>(u_x, y_x, sum);
      add_neighbour<1>(u_y, y_y, sum);
      solve(u, sum);
      for (int m = 0; m < variables; ++m) {
        V changed = y[m] - omega * sum[m];
        // A lane before its row's first column has its neighbour's value there, which stays.
        if (s + 1 < width<V>) changed[s + 1] = y[m][s + 1];
        y[m] = changed;
        for (int l = 0; l < width<V>; ++l)
          if (l < lanes && s - l >= 0 && s - l < columns) tile.r[at[l] + m * field] = y[m][l];
      }
    }
  }
};

class Ssor : public Flow {
 public:
  Ssor(const Scheme& scheme, int ranks, int rank) : Flow(scheme, Tiling(Cut::pencils, scheme.n, ranks), rank) {
    const Place place = tiling().tiles_of(rank).front();
    const Box inner = tiling().box(place).common(Box::cube(scheme.n, 1));
    before_ = place[0] + place[1];
    for (const bool lower : {true, false})
      for (int d = 0; d < 2; ++d) {
        const std::size_t bytes = variables * sizeof(double) * inner.count[1 - d];
        const int tag = 6 + 2 * d + (lower ? 0 : 1), to = neighbour(d, lower), from = neighbour(d, !lower);
        out_[lower][d] = to < 0 ? none : add_outgoing({to, tag, bytes, planes_ahead});
        in_[lower][d] =
            from < 0 ? none
                     : add_incoming({from, tag, bytes, planes_ahead}, std::vector<std::size_t>(scheme.n - 2, bytes));
      }
  }

  void step(const Parts& parts) override {
    Tile& tile = tiles().front();
    parts(exch, [&] { exchange_faces(); });
    parts(rhs, [&] { residual(scheme(), tile, false); });
    parts(blts, [&] { sweep<1>(); });
    parts(buts, [&] { sweep<-1>(); });
    parts(add, [&] { advance(tile, 1 / (omega * (2 - omega)), false); });
  }

 private:
  enum Phase : std::size_t { exch, rhs, blts, buts, add };
  static constexpr std::size_t none = ~std::size_t{0};

  void allocate() override {}

  // A rank begins its first plane when the wavefront has crossed the pencils before it.
  template <int sign>
  void sweep() {
    Tile& tile = tiles().front();
    const int planes = scheme().n - 2, all_before = tiling().tiles()[0] + tiling().tiles()[1] - 2;
    const int before = sign > 0 ? before_ : all_before - before_;
    for (int stage = 0; stage < planes + all_before; ++stage) {
      const int plane = stage - before;
      if (plane >= 0 && plane < planes) {
        const int k = sign > 0 || scheme().upper_ascends ? plane + 1 : planes - plane;
        const Plane<sign> now{scheme(), tile, k};
        with_lanes([&]<class V> [[gnu::always_inline]] () { now.template across<V>(); });
        for (int d = 0; d < 2; ++d) receive<sign>(d, k);
        with_lanes([&]<class V> [[gnu::always_inline]] () { now.template within<V>(); });
        for (int d = 0; d < 2; ++d) send<sign>(d, k);
      }
      if (all_before > 0) this->messages().meet();
    }
  }

  // The plane's points in direction d that the next pencil needs, or that come from the one before: row by row.
  template <int sign>
  void receive(int d, int k) {
    const std::size_t in = in_[sign > 0][d];
    if (in == none) return;
    const double* from = inlet(in).take(messages()).data();
    const Tile& tile = tiles().front();
    for_edge(d, k, sign > 0 ? tile.begin(d) - 1 : tile.end(d), [&](double& value) { value = *from++; });
    inlet(in).done(messages());
  }
  template <int sign>
  void send(int d, int k) {
    const std::size_t out = out_[sign > 0][d];
    if (out == none) return;
    double* to = messages().outgoing_as<double>(out).data();
    const Tile& tile = tiles().front();
    for_edge(d, k, sign > 0 ? tile.end(d) - 1 : tile.begin(d), [&](double& value) { *to++ = value; });
    messages().post(out);
  }
  template <class Work>
  void for_edge(int d, int k, int at, Work work) {
    Tile& tile = tiles().front();
    for (int m = 0; m < variables; ++m)
      for (int i = tile.begin(1 - d); i < tile.end(1 - d); ++i)
        work(tile.r[(d == 0 ? tile.place(at, i, k) : tile.place(i, at, k)) + m * tile.field()]);
  }

  std::array<std::array<std::size_t, 2>, 2> out_, in_;  // by sweep (upper, lower) and direction
  int before_;                                          // pencils that the lower sweep crosses before this one
};

}  // namespace

std::unique_ptr<Flow> make_lu(const Scheme& scheme, int ranks, int rank) {
  return std::make_unique<Ssor>(scheme, ranks, rank);
}

}  // namespace plumb::npb
