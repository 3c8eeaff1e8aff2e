// Solves the systems of all lines of a tile in one direction, W lines at a time: rows are built and eliminated as the
// sweep advances, and solutions substituted on the way back. What a tile needs of the one before it, a carry, is the
// last rows kept there, and on the way back the first solutions.
#pragma once

#include <algorithm>
#include <vector>

#include "benchmarks/shmem/npb/equations.hpp"

namespace plumb::npb {

// Storage aligned for vectors.
struct alignas(64) CacheLine {
  double values[8];
};
class Aligned {
 public:
  void grow(std::size_t doubles) {
    if (lines_.size() * 8 < doubles) lines_.resize((doubles + 7) / 8);
  }
  double* data() { return lines_.data()->values; }

 private:
  std::vector<CacheLine> lines_;
};

// W or fewer neighbouring lines of a tile.
struct LineGroup {
  std::ptrdiff_t at;      // place of the first line's first point
  int lanes;              // lines
  std::ptrdiff_t before;  // lines of the tile before these
};

// The lines of a tile in direction D, by groups.
template <template <class> class Rows, int D>
class Lines {
 public:
  using Shape = Rows<Vector<2>>;
  static constexpr int lane_axis = D == 0 ? 1 : 0, outer_axis = D == 2 ? 1 : 2;
  static constexpr int forward_values = Shape::depth * Shape::kept, backward_values = Shape::depth * variables;

  Lines(const Scheme& scheme, Tile& tile) : scheme_(scheme), tile_(tile) {}

  static std::ptrdiff_t count(const Tile& tile) {
    return std::ptrdiff_t{1} * breadth(tile, lane_axis) * breadth(tile, outer_axis);
  }
  int groups() const { return chunks() * breadth(tile_, outer_axis); }
  // Doubles of a group's ingredients, and of its kept rows.
  std::size_t ingredient_doubles() const { return lanes_of(tile_.count(D) + 2) * Shape::ingredients; }
  std::size_t kept_doubles() const { return lanes_of(tile_.count(D) + Shape::depth) * Shape::kept; }

  // What the rows of a group need of the variables; independent of other tiles' carries.
  void build(int group, double* ingredients) const { with_lanes(Build{*this, group_of(group), ingredients}); }
  // Eliminates; null: no tile before, none after.
  void forward(int group, const double* ingredients, double* kept, const double* carry, double* carry_out) const {
    with_lanes(Forward{*this, group_of(group), ingredients, kept, carry, carry_out});
  }
  void backward(int group, const double* kept, const double* carry, double* carry_out) const {
    with_lanes(Backward{*this, group_of(group), kept, carry, carry_out});
  }

 private:
  static constexpr bool contiguous = lane_axis == 0;

  static int breadth(const Tile& tile, int axis) { return std::max(0, tile.end(axis) - tile.begin(axis)); }
  int chunks() const { return (breadth(tile_, lane_axis) + host_lanes() - 1) / host_lanes(); }
  static std::size_t lanes_of(int points) {
    return static_cast<std::size_t>(points) * static_cast<std::size_t>(host_lanes());
  }
  bool is_end(int i) const { return tile_.first(D) + i == 0 || tile_.first(D) + i == scheme_.n - 1; }

  LineGroup group_of(int index) const {
    const int outer = index / chunks(), lane = index % chunks() * host_lanes();
    int at[3] = {};
    at[lane_axis] = tile_.begin(lane_axis) + lane;
    at[outer_axis] = tile_.begin(outer_axis) + outer;
    const int lines = breadth(tile_, lane_axis);
    return {tile_.place(at[0], at[1], at[2]), std::min(host_lanes(), lines - lane),
            std::ptrdiff_t{1} * outer * lines + lane};
  }

  struct Build {
    const Lines& of;
    LineGroup group;
    double* ingredients;

    template <class V>
    [[gnu::always_inline]] inline void operator()() const {
      const Tile& tile = of.tile_;
      V* out = reinterpret_cast<V*>(ingredients);
      for (int i = -1; i <= tile.count(D); ++i, out += Shape::ingredients) {
        V u[variables];
        for (int m = 0; m < variables; ++m)
          u[m] = load<V, contiguous>(tile.u.data() + group.at + i * tile.stride(D) + m * tile.field(),
                                     tile.stride(lane_axis), group.lanes);
        Rows<V>::template prepare<D>(u, out);
      }
    }
  };

  struct Forward {
    const Lines& of;
    LineGroup group;
    const double* ingredients;
    double* kept;
    const double* carry;
    double* carry_out;

    template <class V>
    [[gnu::always_inline]] inline void operator()() const {
      using R = Rows<V>;
      const Tile& tile = of.tile_;
      V* row = reinterpret_cast<V*>(kept);
      read_carry<V, forward_values>(row, carry, group);
      row += forward_values;
      const V* here = reinterpret_cast<const V*>(ingredients) + R::ingredients;
      for (int i = 0; i < tile.count(D); ++i, row += R::kept, here += R::ingredients) {
        if (of.is_end(i)) {
          for (int v = 0; v < R::kept; ++v) row[v] = V{};
          continue;
        }
        V r[variables];
        for (int m = 0; m < variables; ++m)
          r[m] = load<V, contiguous>(tile.r.data() + group.at + i * tile.stride(D) + m * tile.field(),
                                     tile.stride(lane_axis), group.lanes);
        R::template eliminate<D>(of.scheme_, tile.first(D) + i, here - R::ingredients, here, here + R::ingredients, r,
                                 row);
      }
      write_carry<V, forward_values>(row - forward_values, carry_out, group);
    }
  };

  struct Backward {
    const Lines& of;
    LineGroup group;
    const double* kept;
    const double* carry;
    double* carry_out;

    template <class V>
    [[gnu::always_inline]] inline void operator()() const {
      using R = Rows<V>;
      Tile& tile = of.tile_;
      V x[variables + backward_values];
      read_carry<V, backward_values>(x + variables, carry, group);
      const V* row = reinterpret_cast<const V*>(kept) + forward_values + (tile.count(D) - 1) * R::kept;
      for (int i = tile.count(D) - 1; i >= 0; --i, row -= R::kept) {
        R::substitute(row, x);
        V solution[variables];
        for (int m = 0; m < variables; ++m) solution[m] = x[m];
        R::template finish<D>(solution);
        for (int m = 0; m < variables; ++m)
          store<V, contiguous>(solution[m], tile.r.data() + group.at + i * tile.stride(D) + m * tile.field(),
                               tile.stride(lane_axis), group.lanes);
        for (int m = variables + backward_values - 1; m >= variables; --m) x[m] = x[m - variables];
      }
      write_carry<V, backward_values>(x + variables, carry_out, group);
    }
  };

  // A carry holds value by value, a group's lines each.
  template <class V, int values>
  [[gnu::always_inline]] static inline void read_carry(V* own, const double* carry, const LineGroup& group) {
    for (int v = 0; v < values; ++v)
      own[v] = carry == nullptr ? V{} : load<V, false>(carry + group.before * values + v * group.lanes, 1, group.lanes);
  }
  template <class V, int values>
  [[gnu::always_inline]] static inline void write_carry(const V* own, double* carry, const LineGroup& group) {
    if (carry == nullptr) return;
    for (int v = 0; v < values; ++v)
      store<V, true>(own[v], carry + group.before * values + v * group.lanes, 1, group.lanes);
  }

  const Scheme& scheme_;
  Tile& tile_;
};

}  // namespace plumb::npb
