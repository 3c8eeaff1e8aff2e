// BT and SP: alternating directions. A step solves all lines in x, then in y, then in z.
//
// Where an axis is cut into slabs, each stage has one slab's lines. They are cut into pieces, so that the rows kept
// until the way back stay in caches, and messages of some pieces travel while others are worked at.
#include "benchmarks/shmem/npb/flow.hpp"
#include "benchmarks/shmem/npb/lines.hpp"

namespace plumb::npb {

namespace {

constexpr std::size_t kept_bytes_of_piece = 128 << 10;  // about
constexpr int most_slabs_in_pieces = 5;                 // with more, a link would need more places for messages

template <template <class> class Rows, bool transformed>
class Alternating : public Flow {
 public:
  Alternating(const Scheme& scheme, int ranks, int rank, bool in_pieces)
      : Flow(scheme, Tiling(Cut::diagonal, scheme.n, ranks), rank),
        sweeps_{make_sweep<0>(in_pieces), make_sweep<1>(in_pieces), make_sweep<2>(in_pieces)} {}

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
  // A tile's rows of lines in a slab, in the order of lines in messages.
  struct Section {
    std::size_t tile;
    int rows;
    std::ptrdiff_t lines;  // of a row
  };
  // Links, and places in memory, of one direction's lines.
  struct Sweep {
    int pieces = 1;                              // of each slab's lines
    std::vector<std::vector<Section>> sections;  // by slab
    std::size_t forward_out = 0, forward_in = 0, backward_out = 0, backward_in = 0;
    std::vector<std::size_t> kept_at, kept_size;  // by slab: of all pieces under way, and of one
    std::size_t ingredients = 0;                  // doubles of one group
  };

  // Calls work(forward, slab, piece) in the order of a sweep, alike on all ranks, and turn() between stages. A piece
  // reaches the next slab one stage later; the last slab comes last, so that messages have most of a stage to travel.
  template <class Work, class Turn>
  static void for_stages(int slabs, int pieces, Work work, Turn turn) {
    const int last = slabs - 1, stages = pieces + 2 * last;
    const auto call = [&](bool forward, int slab, int piece) {
      if (piece >= 0 && piece < pieces) work(forward, slab, piece);
    };
    for (int stage = 0; stage < stages; ++stage) {
      for (int slab = 0; slab < last; ++slab) call(true, slab, stage - slab);
      for (int slab = 0; slab < last; ++slab) call(false, slab, stage - (2 * last - slab));
      call(true, last, stage - last);
      if (stage + 1 < stages) turn();
    }
  }

  // Calls work(tile, first row, end, lines of the piece before the tile's row 0).
  template <class Work>
  static void for_parts(const Sweep& sweep, int slab, int piece, Work work) {
    const std::vector<Section>& sections = sweep.sections[static_cast<std::size_t>(slab)];
    int all = 0, row = 0;
    for (const Section& one : sections) all += one.rows;
    const int begin = all * piece / sweep.pieces, end = all * (piece + 1) / sweep.pieces;
    std::ptrdiff_t before = 0;
    for (const Section& one : sections) {
      const int low = std::clamp(begin - row, 0, one.rows), high = std::clamp(end - row, 0, one.rows);
      if (low < high) work(one.tile, low, high, before - low * one.lines);
      before += (high - low) * one.lines;
      row += one.rows;
    }
  }

  static std::size_t lines_of(const Sweep& sweep, int slab, int piece) {
    std::ptrdiff_t lines = 0;
    for_parts(sweep, slab, piece, [&](std::size_t tile, int low, int high, std::ptrdiff_t) {
      for (const Section& one : sweep.sections[static_cast<std::size_t>(slab)])
        if (one.tile == tile) lines += (high - low) * one.lines;
    });
    return static_cast<std::size_t>(lines);
  }

  int inner(const Box& box, int d) const {
    const auto axis = static_cast<std::size_t>(d);
    return std::max(0, std::min(box.first[axis] + box.count[axis], scheme().n - 1) - std::max(box.first[axis], 1));
  }

  // As many on all ranks, and at most as many as any slab has rows.
  template <int D>
  int pieces() const {
    using L = Lines<Rows, D>;
    const auto& tiles = tiling().tiles();
    const int slabs = tiles[D], n = scheme().n, outer = tiles[L::outer_axis];
    if (slabs > most_slabs_in_pieces) return 1;
    const int of_stage = tiles[0] * tiles[1] * tiles[2] / slabs / tiling().ranks();  // tiles of a rank
    const int rows = of_stage * (n / outer - (outer == 1 ? 2 : 1));
    const double kept = static_cast<double>(n) * n * n / slabs / tiling().ranks() * L::Shape::kept * sizeof(double);
    return std::clamp(static_cast<int>(kept / kept_bytes_of_piece), 1, std::max(rows, 1));
  }

  template <int D>
  Sweep make_sweep(bool in_pieces) {
    using L = Lines<Rows, D>;
    Sweep sweep;
    const int slabs = tiling().tiles()[D];
    if (slabs == 1) return sweep;
    if (in_pieces) sweep.pieces = pieces<D>();
    const auto places = tiling().tiles_of(rank());
    for (int s = 0; s < slabs; ++s) {
      sweep.sections.emplace_back();
      for (const std::size_t t : tiles_at(D, s)) {
        const Box box = tiling().box(places[t]);
        sweep.sections.back().push_back({t, inner(box, L::outer_axis), inner(box, L::lane_axis)});
      }
    }
    // A stage posts slabs - 1 messages of a link at most, which are taken in the next one.
    const int depth = sweep.pieces > 1 ? 2 * (slabs - 1) : std::min(2, slabs - 1);
    const int up = neighbour(D, true), down = neighbour(D, false);
    // Of the messages that come in, and the largest one that goes out, by what a line has.
    const auto bytes = [&](bool forward, bool incoming, int values) {
      std::vector<std::size_t> all;
      const auto note = [&](bool is_forward, int slab, int piece) {
        const bool posts = forward ? is_forward && slab + 1 < slabs : (is_forward ? slab + 1 == slabs : slab > 0);
        const bool takes = is_forward == forward && (forward ? slab > 0 : true);
        if (incoming ? takes : posts)
          all.push_back(lines_of(sweep, slab, piece) * static_cast<std::size_t>(values) * sizeof(double));
      };
      for_stages(slabs, sweep.pieces, note, [] {});
      return all;
    };
    const auto largest = [](const std::vector<std::size_t>& all) { return *std::max_element(all.begin(), all.end()); };
    const auto to_up = bytes(true, false, L::forward_values), from_down = bytes(true, true, L::forward_values);
    const auto to_down = bytes(false, false, L::backward_values), from_up = bytes(false, true, L::backward_values);
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
    for (Tile& tile : tiles()) {
      const Lines<Rows, D> lines(scheme(), tile);
      turning_.grow(lines.kept_doubles());
      sweep.ingredients = std::max(sweep.ingredients, lines.ingredient_doubles());
    }
    std::size_t kept = 0, groups = 1;
    sweep.kept_at.clear();
    sweep.kept_size.clear();
    for (int slab = 0; slabs > 1 && slab < slabs; ++slab) {
      std::size_t most = 0, doubles = 0;
      for (int piece = 0; piece < sweep.pieces; ++piece) {
        std::size_t of_piece = 0;
        for_parts(sweep, slab, piece, [&](std::size_t t, int low, int high, std::ptrdiff_t) {
          const Lines<Rows, D> lines(scheme(), tiles()[t]);
          of_piece += static_cast<std::size_t>((high - low) * lines.groups_of_row());
          doubles = lines.kept_doubles();
        });
        most = std::max(most, of_piece);
      }
      groups = std::max(groups, most);
      sweep.kept_at.push_back(kept);
      sweep.kept_size.push_back(most * doubles);
      if (slab + 1 < slabs) kept += most * doubles * static_cast<std::size_t>(under_way(sweep, slab, slabs));
    }
    kept_.grow(kept);
    ingredients_.grow(groups * sweep.ingredients);
  }

  // Pieces between their way forward and back.
  static int under_way(const Sweep& sweep, int slab, int slabs) {
    return std::min(sweep.pieces, 2 * (slabs - 1 - slab) + 1);
  }

  template <int D>
  double* kept(int slab, int piece) {
    const Sweep& sweep = sweeps_[D];
    const auto s = static_cast<std::size_t>(slab);
    const int place = piece % under_way(sweep, slab, tiling().tiles()[D]);
    return kept_.data() + sweep.kept_at[s] + static_cast<std::size_t>(place) * sweep.kept_size[s];
  }

  template <int D>
  void solve() {
    const int slabs = tiling().tiles()[D];
    if (slabs == 1) return solve_whole<D>();
    const auto work = [&](bool is_forward, int slab, int piece) {
      if (is_forward)
        forward<D>(slab, piece);
      else
        backward<D>(slab, piece);
    };
    for_stages(slabs, sweeps_[D].pieces, work, [&] { messages().meet(); });
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

  // Calls work(lines, group, number, before) for the groups of a piece, until it returns false. Lines of a tile follow
  // `before` others in a message.
  template <int D, class Work>
  void for_groups(int slab, int piece, Work work) {
    std::size_t number = 0;
    bool goes_on = true;
    for_parts(sweeps_[D], slab, piece, [&](std::size_t t, int low, int high, std::ptrdiff_t before) {
      const Lines<Rows, D> lines(scheme(), tiles()[t]);
      const int end = high * lines.groups_of_row();
      for (int group = low * lines.groups_of_row(); goes_on && group < end; ++group, ++number)
        goes_on = work(lines, group, number, before);
    });
  }

  // While the carry is under way, the groups' ingredients are built. The last slab's lines turn back group by group, in
  // memory that stays in caches.
  template <int D>
  void forward(int slab, int piece) {
    using L = Lines<Rows, D>;
    const Sweep& sweep = sweeps_[D];
    const bool first = slab == 0, last = slab == tiling().tiles()[D] - 1;
    const auto place = [&](std::size_t number) { return ingredients_.data() + number * sweep.ingredients; };
    std::size_t built = 0;
    const double* carry = nullptr;
    if (!first) {
      for_groups<D>(slab, piece, [&](const L& lines, int group, std::size_t number, std::ptrdiff_t) {
        if (inlet(sweep.forward_in).arrived(messages())) return false;
        lines.build(group, place(number));
        built = number + 1;
        return true;
      });
      carry = inlet(sweep.forward_in).take(messages()).data();
    }
    double* out = messages().outgoing_as<double>(last ? sweep.backward_out : sweep.forward_out).data();
    double* const rows = last ? nullptr : kept<D>(slab, piece);
    for_groups<D>(slab, piece, [&](const L& lines, int group, std::size_t number, std::ptrdiff_t before) {
      double* const own = place(number < built ? number : 0);
      if (number >= built) lines.build(group, own);
      const double* const in = first ? nullptr : carry + before * L::forward_values;
      if (!last) {
        lines.forward(group, own, rows + number * lines.kept_doubles(), in, out + before * L::forward_values);
        return true;
      }
      lines.forward(group, own, turning_.data(), in, nullptr);
      lines.backward(group, turning_.data(), nullptr, out + before * L::backward_values);
      return true;
    });
    post(sweep, last ? sweep.backward_out : sweep.forward_out, slab, piece,
         last ? L::backward_values : L::forward_values);
    if (!first) inlet(sweep.forward_in).done(messages());
  }

  template <int D>
  void backward(int slab, int piece) {
    using L = Lines<Rows, D>;
    const Sweep& sweep = sweeps_[D];
    const bool first = slab == 0;
    const double* carry = inlet(sweep.backward_in).take(messages()).data();
    double* out = first ? nullptr : messages().outgoing_as<double>(sweep.backward_out).data();
    const double* const rows = kept<D>(slab, piece);
    for_groups<D>(slab, piece, [&](const L& lines, int group, std::size_t number, std::ptrdiff_t before) {
      lines.backward(group, rows + number * lines.kept_doubles(), carry + before * L::backward_values,
                     first ? nullptr : out + before * L::backward_values);
      return true;
    });
    if (!first) post(sweep, sweep.backward_out, slab, piece, L::backward_values);
    inlet(sweep.backward_in).done(messages());
  }

  // So many numbers for each line of the piece.
  void post(const Sweep& sweep, std::size_t link, int slab, int piece, int values) {
    messages().post(link, lines_of(sweep, slab, piece) * static_cast<std::size_t>(values) * sizeof(double));
  }

  std::array<Sweep, 3> sweeps_;
  Aligned kept_, turning_, ingredients_;  // rows of the slabs before the last, of one group that turns back
};

}  // namespace

std::unique_ptr<Flow> make_bt(const Scheme& scheme, int ranks, int rank, bool in_pieces) {
  return std::make_unique<Alternating<BlockRows, false>>(scheme, ranks, rank, in_pieces);
}

std::unique_ptr<Flow> make_sp(const Scheme& scheme, int ranks, int rank, bool in_pieces) {
  return std::make_unique<Alternating<PentadiagonalRows, true>>(scheme, ranks, rank, in_pieces);
}

}  // namespace plumb::npb
