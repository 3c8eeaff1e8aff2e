// What is simulated: constants, tide, the state at the beginning, and exact solutions. README.md has the equations.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/apps/shallow_water/mesh.hpp"

namespace plumb::shallow_water {

inline constexpr std::size_t fields = 3;  // level, U, V
using Fields = std::array<double, fields>;

enum class Friction { none, linear, quadratic };
Friction friction_of(const std::string& name);              // throws Error for another name
std::string friction_options(const std::string& friction);  // of the kernels' compiler

struct Constituent {
  double amplitude = 0, frequency = 0, phase = 0;  // m, rad/s, rad
};

// The level at sea edges: ramp * sum of a cos(omega t - phi).
struct Tide {
  std::vector<Constituent> constituents;
  double ramp_seconds = 0;  // 0: none
  double level(double t) const;
};
// By name: O1, K1, N2, M2, S2. Throws UsageError for any other. Frequencies are astronomical; amplitudes and phases are
// the bay's own.
Tide tide_of(const std::vector<std::string>& names, double ramp_seconds);
// A TOML file's tables [[constituent]], each with the numbers amplitude_m, frequency_rad_s and phase_rad, and a name if
// it likes. Throws UsageError that names file and line.
Tide read_tide(const std::string& text, const std::string& name, double ramp_seconds);

struct Physics {
  double gravity = 9.81, coriolis = 0, friction = 0, minimum_depth = 0.05;
  Friction friction_kind = Friction::none;
  Tide tide;
};

// Level, U and V at a place and time, and what must be added to the equations' right sides to make them a solution.
struct Solution {
  std::function<Fields(Point, double t)> state;
  std::function<Fields(Point, double t)> source;
};

// Waves in all directions, of wavelengths from a third to an eighth of `extent`: no element is still.
Fields waves_at(Point p, double extent);
// Bed h0 + hx x + hy y, waves through a square of `side` metres.
struct Plane {
  double h0 = 1.5, hx = 1.5e-5, hy = -0.7e-5;  // currents as fast as waves, so that all fields show their order
  double depth(Point p) const { return h0 + hx * p.x + hy * p.y; }
};
Solution manufactured(const Physics& physics, const Plane& plane, double side);

// Lynch and Gray 1979: a linear tide in a ring with h_b = H0 r^2.
struct Ring {
  double inner = 60960, outer = 152400, inner_depth = 3.048, amplitude = 0.003, frequency = 1.405189e-4,
         friction = 1e-4;
  double depth(Point p) const { return inner_depth * (p.x * p.x + p.y * p.y) / (inner * inner); }
  // Amplitude and phase of the level: Re(level e^(i omega t)).
  std::complex<double> level(double radius, double gravity) const;
  // Of the outward transport h u.
  std::complex<double> transport(double radius, double gravity) const;
  Solution solution(double gravity) const;
};

// Stage i of a step of order p: to = base_share * base + share * (from + dt * rate(from)), rate at time t + at * dt.
struct Stage {
  double base_share = 0, share = 1, at = 0;
};
const std::vector<Stage>& stages_of(int order);  // SSP Runge-Kutta of order p + 1

// The longest stable step: cfl / (2p + 1) of the shortest 2 A / (perimeter (sqrt(gH) + |u|)), with `headroom` metres
// above h_b and the velocities of `speed`.
double stable_step(const Mesh& mesh, const Physics& physics, int order, double cfl, double headroom, double speed);

}  // namespace plumb::shallow_water
