// BT and SP: alternating directions. A step solves all lines in x, then in y, then in z.
#include "benchmarks/shmem/npb/flow.hpp"
#include "benchmarks/shmem/npb/lines.hpp"

namespace plumb::npb {

namespace {

template <template <class> class Rows, bool transformed>
class Alternating : public Flow {
 public:
  Alternating(const Scheme& scheme, int ranks, int rank)
      : Flow(scheme, Tiling(Cut::diagonal, scheme.n, ranks), rank),
        sweeps_{make_sweep<0>(), make_sweep<1>(), make_sweep<2>()} {}

  void step(const Parts& parts) override {
    parts(exch, [&] { exchange_faces(); });
    parts(rhs, [&] {
      for (Tile& tile : tiles()) residual(scheme(), tile, transformed);
    });
    parts(xsolve, [&] { solve<0>(); });
    parts(ysolve, [&] { solve<1>(); });
    parts(zsolve, [&] { solve<2>(); });
    parts(add, [&] {
      for (Tile& tile : tiles()) advance(tile, 1, transformed);
    });
  }

 private:
  enum Phase : std::size_t { exch, rhs, xsolve, ysolve, zsolve, add };
  // Links, and places in memory, of one direction's lines.
  struct Sweep {
    std::size_t forward_out = 0, forward_in = 0, backward_out = 0, backward_in = 0;
    std::vector<std::size_t> kept_at;  // by tile; none in the last slab
    std::size_t ingredients = 0;       // doubles of one group
  };

  template <int D>
  Sweep make_sweep() {
    using L = Lines<Rows, D>;
    Sweep sweep;
    const int slabs = tiling().tiles()[D];
    if (slabs == 1) return sweep;
    std::vector<std::size_t> lines(slabs);  // inner ones of this rank by slab, in bytes for each number
    for (const Place& place : tiling().tiles_of(rank())) {
      Box inner = tiling().box(place).common(Box::cube(scheme().n, 1));
      inner.count[D] = 1;
      lines[place[D]] += inner.points() * sizeof(double);
    }
    const int depth = std::min(2, slabs - 1), up = neighbour(D, true), down = neighbour(D, false);
    const auto bytes = [&](int first, int step, std::size_t values) {  // of the stages that receive
      std::vector<std::size_t> all;
      for (int s = first; s >= 0 && s < slabs; s += step) all.push_back(lines[s] * values);
      return all;
    };
    const auto largest = [](const std::vector<std::size_t>& all) { return *std::max_element(all.begin(), all.end()); };
    const auto to_up = bytes(slabs - 2, -1, L::forward_values), from_down = bytes(1, 1, L::forward_values);
    const auto to_down = bytes(1, 1, L::backward_values), from_up = bytes(slabs - 2, -1, L::backward_values);
    sweep.forward_out = add_outgoing({up, 6 + 2 * D, largest(to_up), depth});
    sweep.forward_in = add_incoming({down, 6 + 2 * D, largest(from_down), depth}, from_down);
    sweep.backward_out = add_outgoing({down, 7 + 2 * D, largest(to_down), depth});
    sweep.backward_in = add_incoming({up, 7 + 2 * D, largest(from_up), depth}, from_up);
    return sweep;
  }

  void allocate() override {
    allocate_sweep<0>();
    allocate_sweep<1>();
    allocate_sweep<2>();
  }

  template <int D>
  void allocate_sweep() {
    Sweep& sweep = sweeps_[D];
    const int slabs = tiling().tiles()[D];
    const auto places = tiling().tiles_of(rank());
    std::size_t kept = 0;
    std::vector<int> groups(slabs);
    sweep.kept_at.clear();
    for (std::size_t t = 0; t < tiles().size(); ++t) {
      const Lines<Rows, D> lines(scheme(), tiles()[t]);
      sweep.kept_at.push_back(kept);
      if (places[t][D] + 1 < slabs) kept += lines.groups() * lines.kept_doubles();
      groups[places[t][D]] += lines.groups();
      turning_.grow(lines.kept_doubles());
      sweep.ingredients = std::max(sweep.ingredients, lines.ingredient_doubles());
    }
    kept_.grow(kept);
    ingredients_.grow((slabs > 1 ? *std::max_element(groups.begin(), groups.end()) : 1) * sweep.ingredients);
  }

  template <int D>
  void solve() {
    const int slabs = tiling().tiles()[D];
    if (slabs == 1) return solve_whole<D>();
    for (int s = 0; s < slabs; ++s) forward<D>(s);
    for (int s = slabs - 2; s >= 0; --s) backward<D>(s);
  }

  // Lines that no tile's face cuts: group by group, in memory that stays in caches.
  template <int D>
  void solve_whole() {
    for (Tile& tile : tiles()) {
      const Lines<Rows, D> lines(scheme(), tile);
      for (int group = 0; group < lines.groups(); ++group) {
        lines.build(group, ingredients_.data());
        lines.forward(group, ingredients_.data(), turning_.data(), nullptr, nullptr);
        lines.backward(group, turning_.data(), nullptr, nullptr);
      }
    }
  }

  // Calls work(lines, group, number, kept, lines_before) for the groups of the stage's tiles from `first` on, until it
  // returns false.
  template <int D, class Work>
  void for_groups(int slab, Work work) {
    std::size_t number = 0;
    std::ptrdiff_t before = 0;
    for (const std::size_t t : tiles_at(D, slab)) {
      const Lines<Rows, D> lines(scheme(), tiles()[t]);
      double* kept = kept_.data() + sweeps_[D].kept_at[t];
      for (int group = 0; group < lines.groups(); ++group, ++number, kept += lines.kept_doubles())
        if (!work(lines, group, number, kept, before)) return;
      before += Lines<Rows, D>::count(tiles()[t]);
    }
  }

  // While the carry is under way, the groups' ingredients are built. The last stage turns back group by group, in
  // memory that stays in caches.
  template <int D>
  void forward(int slab) {
    using L = Lines<Rows, D>;
    const Sweep& sweep = sweeps_[D];
    const bool first = slab == 0, last = slab == tiling().tiles()[D] - 1;
    const auto place = [&](std::size_t number) { return ingredients_.data() + number * sweep.ingredients; };
    std::size_t built = 0;
    const double* carry = nullptr;
    if (!first) {
      for_groups<D>(slab, [&](const L& lines, int group, std::size_t number, double*, std::ptrdiff_t) {
        if (inlet(sweep.forward_in).arrived(messages())) return false;
        lines.build(group, place(number));
        built = number + 1;
        return true;
      });
      carry = inlet(sweep.forward_in).take(messages()).data();
    }
    double* out = messages().outgoing_as<double>(last ? sweep.backward_out : sweep.forward_out).data();
    for_groups<D>(slab, [&](const L& lines, int group, std::size_t number, double* kept, std::ptrdiff_t before) {
      double* const own = place(number < built ? number : 0);
      if (number >= built) lines.build(group, own);
      const double* const in = first ? nullptr : carry + before * L::forward_values;
      if (!last) {
        lines.forward(group, own, kept, in, out + before * L::forward_values);
        return true;
      }
      lines.forward(group, own, turning_.data(), in, nullptr);
      lines.backward(group, turning_.data(), nullptr, out + before * L::backward_values);
      return true;
    });
    if (!last) post<D>(sweep.forward_out, slab, L::forward_values);
    if (!first) inlet(sweep.forward_in).done(messages());
    if (last) post<D>(sweep.backward_out, slab, L::backward_values);
    messages().meet();
  }

  template <int D>
  void backward(int slab) {
    using L = Lines<Rows, D>;
    const Sweep& sweep = sweeps_[D];
    const bool first = slab == 0;
    const double* carry = inlet(sweep.backward_in).take(messages()).data();
    double* out = first ? nullptr : messages().outgoing_as<double>(sweep.backward_out).data();
    for_groups<D>(slab, [&](const L& lines, int group, std::size_t, const double* kept, std::ptrdiff_t before) {
      lines.backward(group, kept, carry + before * L::backward_values,
                     first ? nullptr : out + before * L::backward_values);
      return true;
    });
    if (!first) post<D>(sweep.backward_out, slab, L::backward_values);
    inlet(sweep.backward_in).done(messages());
    if (!first) messages().meet();
  }

  // So many numbers for each line of the stage's tiles.
  template <int D>
  void post(std::size_t link, int slab, int values) {
    std::ptrdiff_t lines = 0;
    for (const std::size_t t : tiles_at(D, slab)) lines += Lines<Rows, D>::count(tiles()[t]);
    messages().post(link, lines * values * sizeof(double));
  }

  std::array<Sweep, 3> sweeps_;
  Aligned kept_, turning_, ingredients_;  // rows of the stages before the last, of one group that turns back
};

}  // namespace

std::unique_ptr<Flow> make_bt(const Scheme& scheme, int ranks, int rank) {
  return std::make_unique<Alternating<BlockRows, false>>(scheme, ranks, rank);
}

std::unique_ptr<Flow> make_sp(const Scheme& scheme, int ranks, int rank) {
  return std::make_unique<Alternating<PentadiagonalRows, true>>(scheme, ranks, rank);
}

}  // namespace plumb::npb
