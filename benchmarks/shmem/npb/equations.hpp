// The equations of BT, SP and LU at W points or lines at a time: fluxes and viscous terms, which operator, forcing and
// Jacobians are made of, and the rows of the lines' systems. Sources: NAS report RNR-94-007, sections 3.1 to 3.4.
#pragma once

#include "benchmarks/shmem/npb/cfd.hpp"
#include "benchmarks/shmem/npb/lanes.hpp"

namespace plumb::npb {

// What the equations need of a point's variables.
template <class V>
struct Primitive {
  V volume, velocity[3], kinetic, energy;  // 1/rho, m/rho, |v|^2/2, E/rho
};
constexpr int primitives = 6;
constexpr double root_half = .70710678118654752440;

template <class V>
[[gnu::always_inline]] inline Primitive<V> primitive(const V u[variables]) {
  Primitive<V> p;
  p.volume = 1. / u[0];
  for (int e = 0; e < 3; ++e) p.velocity[e] = u[e + 1] * p.volume;
  p.kinetic = .5 * (p.velocity[0] * p.velocity[0] + p.velocity[1] * p.velocity[1] + p.velocity[2] * p.velocity[2]);
  p.energy = u[4] * p.volume;
  return p;
}

// F of direction D, and the terms whose second difference is taken: V and d_d U.
template <int D, class V>
[[gnu::always_inline]] inline void flux(const V u[variables], double diffusion, V convective[variables],
                                        V diffusive[variables]) {
  const Primitive<V> p = primitive(u);
  const V along = p.velocity[D];
  convective[0] = u[D + 1];
  for (int e = 0; e < 3; ++e) convective[e + 1] = u[e + 1] * along;
  convective[D + 1] += c2 * (u[4] - u[0] * p.kinetic);
  convective[4] = along * (c1 * u[4] - c2 * (u[0] * p.kinetic));
  diffusive[0] = diffusion * u[0];
  for (int e = 0; e < 3; ++e)
    diffusive[e + 1] = (e == D ? 4. / 3 : 1.) * viscosity * p.velocity[e] + diffusion * u[e + 1];
  diffusive[4] = viscosity * ((1 - c1c5) * p.kinetic + along * along * (1. / 6) + c1c5 * p.energy) + diffusion * u[4];
}

// Adds direction D's part of L at the points from u on; `at` is the first one's number in direction D.
template <int D, class V>
[[gnu::always_inline]] inline void add_operator(const Scheme& scheme, const double* u, std::ptrdiff_t field,
                                                std::ptrdiff_t stride, int at, V sum[variables]) {
  V before[variables], here[variables], after[variables];
  for (int m = 0; m < variables; ++m) {
    before[m] = load<V, true>(u + m * field - stride);
    here[m] = load<V, true>(u + m * field);
    after[m] = load<V, true>(u + m * field + stride);
  }
  V weights[5];
  for (std::size_t m = 0; m < 5; ++m) {
    const double* weight = scheme.differences[m].data() + at;
    weights[m] = scheme.dissipation * (D == 0 ? load<V, true>(weight) : splat<V>(*weight));
  }
  V flux_before[variables], flux_here[variables], flux_after[variables];
  V diffusive_before[variables], diffusive_here[variables], diffusive_after[variables];
  flux<D>(before, scheme.diffusion[D], flux_before, diffusive_before);
  flux<D>(here, scheme.diffusion[D], flux_here, diffusive_here);
  flux<D>(after, scheme.diffusion[D], flux_after, diffusive_after);
  for (int m = 0; m < variables; ++m) {
    const V fourth = weights[0] * load<V, true>(u + m * field - 2 * stride) + weights[1] * before[m] +
                     weights[2] * here[m] + weights[3] * after[m] +
                     weights[4] * load<V, true>(u + m * field + 2 * stride);
    sum[m] += scheme.t1 * (diffusive_before[m] - 2 * diffusive_here[m] + diffusive_after[m]) -
              scheme.t2 * (flux_after[m] - flux_before[m]) - fourth;
  }
}

// a J + b (N + d_d) + c: the Jacobians of F and V in direction D at one point. Without `convective` a is taken as 0.
template <int D, bool convective, class V>
[[gnu::always_inline]] inline void jacobian(const Scheme& scheme, const Primitive<V>& p, double a, double b, double c,
                                            V block[variables][variables]) {
  const V* v = p.velocity;
  const double stretch = scheme.stretch[D];
  for (int m = 0; m < variables; ++m)
    for (int n = 0; n < variables; ++n) block[m][n] = V{};
  const V scaled = b * p.volume;  // b/rho
  block[0][0] = splat<V>(b * scheme.diffusion[D] + c);
  for (int e = 0; e < 3; ++e) {
    const double kappa = (e == D ? stretch : 1.) * viscosity;
    block[e + 1][0] = -kappa * scaled * v[e];
    block[e + 1][e + 1] = kappa * scaled + block[0][0];
    block[4][e + 1] = (kappa - conduction) * scaled * v[e];
  }
  block[4][0] = -scaled * ((viscosity - conduction) * 2 * p.kinetic + (stretch - 1) * viscosity * (v[D] * v[D]) +
                           conduction * p.energy);
  block[4][4] = conduction * scaled + block[0][0];
  if constexpr (convective) {
    block[0][D + 1] += splat<V>(a);
    const V along = a * v[D];
    for (int e = 0; e < 3; ++e) {
      block[e + 1][0] -= v[e] * along;
      block[e + 1][D + 1] += a * v[e];
      block[e + 1][e + 1] += along;
      block[D + 1][e + 1] -= (c2 * a) * v[e];
      block[4][e + 1] -= c2 * v[e] * along;
    }
    block[D + 1][0] += (c2 * a) * p.kinetic;
    block[D + 1][4] += splat<V>(c2 * a);
    const V enthalpy = c1 * p.energy;
    block[4][0] += (2 * c2 * p.kinetic - enthalpy) * along;
    block[4][D + 1] += a * (enthalpy - c2 * p.kinetic);
    block[4][4] += c1 * along;
  }
}

// Whether a J + b N + c may differ from zero at (m, n).
constexpr bool may_be_filled(int direction, int m, int n) {
  if (m == 0) return n == 0 || n == direction + 1;
  return m == 4 || m == direction + 1 || n == 0 || n == m || n == direction + 1;
}

// Rows of BT's block-tridiagonal lines. A row kept after elimination: C' (25) and r' (5), with
// x(i) + C' x(i+1) = r'. A carry has `depth` of them forward, and `depth` solutions back.
template <class V>
struct BlockRows {
  static constexpr int ingredients = primitives, kept = 30, depth = 1;

  template <int D>
  [[gnu::always_inline]] static inline void prepare(const V u[variables], V out[ingredients]) {
    const Primitive<V> p = primitive(u);
    std::memcpy(out, &p, sizeof p);
  }

  // Row `at` of the cube, from its neighbours' ingredients, its right-hand side and the rows kept before `row`.
  template <int D>
  [[gnu::always_inline]] static inline void eliminate(const Scheme& scheme, int, const V* before, const V* here,
                                                      const V* after, V r[5], V* row) {
    const double flux = scheme.dt * scheme.t2, second = scheme.dt * scheme.t1;
    V a[5][5], b[5][5], c[5][5];
    jacobian<D, true>(scheme, point(before), -flux, -second, 0, a);
    jacobian<D, false>(scheme, point(here), 0, 2 * second, 1, b);
    jacobian<D, true>(scheme, point(after), flux, -second, 0, c);
    const V* previous = row - kept;
#pragma GCC unroll 5
    for (int m = 0; m < 5; ++m) {
#pragma GCC unroll 5
      for (int l = 0; l < 5; ++l) {
        if (!may_be_filled(D, m, l)) continue;
#pragma GCC unroll 5
        for (int n = 0; n < 5; ++n) b[m][n] -= a[m][l] * previous[l * 5 + n];
        r[m] -= a[m][l] * previous[25 + l];
      }
    }
    solve(b, c, r);
#pragma GCC unroll 5
    for (int m = 0; m < 5; ++m) {
#pragma GCC unroll 5
      for (int n = 0; n < 5; ++n) row[m * 5 + n] = c[m][n];
      row[25 + m] = r[m];
    }
  }

  // x(i) in `x`, from x(i+1) behind it.
  [[gnu::always_inline]] static inline void substitute(const V* row, V* x) {
    for (int m = 0; m < 5; ++m) {
      V sum = row[25 + m];
      for (int n = 0; n < 5; ++n) sum -= row[m * 5 + n] * x[5 + n];
      x[m] = sum;
    }
  }

  template <int D>
  [[gnu::always_inline]] static inline void finish(V[5]) {}

 private:
  [[gnu::always_inline]] static inline Primitive<V> point(const V* ingredients) {
    Primitive<V> p;
    std::memcpy(&p, ingredients, sizeof p);
    return p;
  }

  // c and r multiplied by the inverse of b (Gauss and Jordan; b's diagonal dominates, so without pivots).
  [[gnu::always_inline]] static inline void solve(V b[5][5], V c[5][5], V r[5]) {
#pragma GCC unroll 5
    for (int p = 0; p < 5; ++p) {
      const V inverse = 1. / b[p][p];
#pragma GCC unroll 5
      for (int n = p + 1; n < 5; ++n) b[p][n] *= inverse;
#pragma GCC unroll 5
      for (int n = 0; n < 5; ++n) c[p][n] *= inverse;
      r[p] *= inverse;
#pragma GCC unroll 5
      for (int m = 0; m < 5; ++m) {
        if (m == p) continue;
        const V factor = b[m][p];
#pragma GCC unroll 5
        for (int n = p + 1; n < 5; ++n) b[m][n] -= factor * b[p][n];
#pragma GCC unroll 5
        for (int n = 0; n < 5; ++n) c[m][n] -= factor * c[p][n];
        r[m] -= factor * r[p];
      }
    }
  }
};

// Rows of SP's scalar pentadiagonal lines: three systems (variables 1-3, 4 and 5). A row kept: d' and e' of each
// system, r' of each variable, with x(i) + d' x(i+1) + e' x(i+2) = r'.
template <class V>
struct PentadiagonalRows {
  static constexpr int ingredients = 3, kept = 11, depth = 2;  // velocity, sigma, speed of sound

  template <int D>
  [[gnu::always_inline]] static inline void prepare(const V u[variables], V out[ingredients]) {
    const Primitive<V> p = primitive(u);
    out[0] = p.velocity[D];
    out[1] = conduction * p.volume;
    out[2] = root(c1 * c2 * (p.energy - p.kinetic));
  }

  template <int D>
  [[gnu::always_inline]] static inline void eliminate(const Scheme& scheme, int at, const V* before, const V* here,
                                                      const V* after, V r[5], V* row) {
    const double flux = scheme.dt * scheme.t2, second = scheme.dt * scheme.t1;
    const double diffusion = scheme.diffusion[D], fourth = scheme.dt * scheme.dissipation;
    const auto weight = [&](std::size_t m) { return fourth * scheme.differences[m][at]; };
    const V* last = row - kept;
    const V* second_last = row - 2 * kept;
    const V below = weight(1) - second * (diffusion + before[1]);
    const V centre = 1 + 2 * second * (diffusion + here[1]) + weight(2);
    const V above = weight(3) - second * (diffusion + after[1]);
#pragma GCC unroll 3
    for (int s = 0; s < 3; ++s) {
      const double sound = s == 0 ? 0 : s == 1 ? flux : -flux;
      const V first = below - flux * before[0] - sound * before[2] - weight(0) * second_last[2 * s];
      const V inverse = 1. / (centre - weight(0) * second_last[2 * s + 1] - first * last[2 * s]);
      row[2 * s] = (above + flux * after[0] + sound * after[2] - first * last[2 * s + 1]) * inverse;
      row[2 * s + 1] = weight(4) * inverse;
      for (int m = s == 0 ? 0 : s + 2; m < s + 3; ++m)
        row[6 + m] = (r[m] - weight(0) * second_last[6 + m] - first * last[6 + m]) * inverse;
    }
  }

  [[gnu::always_inline]] static inline void substitute(const V* row, V* x) {
    for (int m = 0; m < 5; ++m) {
      const int s = m < 3 ? 0 : m - 2;
      x[m] = row[6 + m] - row[2 * s] * x[5 + m] - row[2 * s + 1] * x[10 + m];
    }
  }

  // Multiplies by N_x after the x lines, by N_y after the y lines.
  template <int D>
  [[gnu::always_inline]] static inline void finish(V x[5]) {
    if constexpr (D == 2) return;
    const V half = .5 * (x[3] + x[4]), part = root_half * x[D == 0 ? 2 : 0], difference = root_half * (x[3] - x[4]);
    const V first = x[0], second = x[1], third = x[2];
    x[0] = D == 0 ? -second : difference;
    x[1] = D == 0 ? first : -third;
    x[2] = D == 0 ? difference : second;
    x[3] = half - part;
    x[4] = half + part;
  }
};

// SP's T: from the conserved variables' changes to the x lines' unknowns.
template <class V>
[[gnu::always_inline]] inline void multiply_t(const V u[5], V r[5]) {
  const Primitive<V> p = primitive(u);
  const V square = c1 * c2 * (p.energy - p.kinetic);
  const V* v = p.velocity;
  const V one = c2 / square * (p.kinetic * r[0] - v[0] * r[1] - v[1] * r[2] - v[2] * r[3] + r[4]);
  const V two = root_half * p.volume * (v[0] * r[0] - r[1]), three = root_half * p.volume * root(square) * one;
  const V second = (r[3] - v[2] * r[0]) * p.volume, third = (v[1] * r[0] - r[2]) * p.volume;
  r[0] -= one;
  r[1] = second;
  r[2] = third;
  r[3] = three - two;
  r[4] = three + two;
}

// SP's Z: from the z lines' unknowns back.
template <class V>
[[gnu::always_inline]] inline void multiply_z(const V u[5], V r[5]) {
  const Primitive<V> p = primitive(u);
  const V square = c1 * c2 * (p.energy - p.kinetic);
  const V* v = p.velocity;
  const V one = root_half * u[0] / root(square) * (r[3] + r[4]), two = r[2] + one,
          three = root_half * u[0] * (r[3] - r[4]);
  const V fourth = u[0] * (v[1] * r[0] - v[0] * r[1]) + p.kinetic * two + 2.5 * square * one + v[2] * three;
  const V second = v[0] * two - u[0] * r[1], third = v[1] * two + u[0] * r[0];
  r[0] = two;
  r[1] = second;
  r[2] = third;
  r[3] = v[2] * two + three;
  r[4] = fourth;
}

}  // namespace plumb::npb
