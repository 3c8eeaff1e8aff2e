// Stations: places whose level and velocity are written beside the record.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/apps/shallow_water/mesh.hpp"
#include "benchmarks/apps/shallow_water/reference.hpp"
#include "benchmarks/apps/shallow_water/region.hpp"

namespace plumb::shallow_water {

struct Station {
  Point at;
  std::uint32_t element = 0;  // its number
  double r = 0, s = 0;        // in the element
  double bed = 0;             // h_b, m
};

// All in `mesh` with each triangle cut into four `times` times; only those around the stations are cut.
// Places given as "x,y;x,y", in metres. Throws UsageError for anything else, and for a place outside of the mesh.
std::vector<Station> stations_at(const Mesh& mesh, int times, const std::string& text);
// The elements' centres nearest to `wanted`.
std::vector<Station> stations_near(const Mesh& mesh, int times, const std::vector<Point>& wanted);
// Four, at quarters of the mesh's extents.
std::vector<Station> usual_stations(const Mesh& mesh, int times);

// Level (m) and velocity (m/s) at a station: U and V over H there.
struct Seen {
  double level = 0, u = 0, v = 0;
};
Seen seen_at(int order, const Station& station, const double* coefficients);

// What stations have seen, in steps of their own.
struct Sightings {
  std::vector<std::uint64_t> steps;
  std::vector<std::vector<Seen>> seen;  // [step's index][station]

  // Of a step that was seen; null otherwise.
  const std::vector<Seen>* of(std::uint64_t step) const;
};

// Columns: station (from 1), x_m, y_m, source (device, reference), step, t_s, level_m, u_m_s, v_m_s.
std::string stations_csv(const std::vector<Station>& stations, const Sightings& device, const Sightings& reference,
                         double time_step);

// Largest difference of the levels of steps that both have seen, in m.
double off_levels(const Sightings& device, const Sightings& reference);

// A tide of this frequency (rad/s) in the levels seen from time `begin` on, by least squares: level = Re(tide e^(i w
// t)).
std::complex<double> tide_seen(const Sightings& sightings, std::size_t station, double frequency, double time_step,
                               double begin);

// Head of a file in NumPy's form .npy, version 1.0: `count` little-endian floats of this shape follow.
std::string npy_head(const std::vector<std::size_t>& shape);

}  // namespace plumb::shallow_water
