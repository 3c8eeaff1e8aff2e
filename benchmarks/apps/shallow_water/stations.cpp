#include "benchmarks/apps/shallow_water/stations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>

namespace plumb::shallow_water {

namespace {

constexpr double inside = -1e-9;  // of barycentric coordinates: a place on an edge is in the element

[[noreturn]] void refuse_station(const std::string& text, const std::string& reason) {
  throw UsageError(fmt::format("--station {}: {}", text, reason));
}

double metres(const std::string& text, const std::string& number) {
  double value = 0;
  const char* end = number.data() + number.size();
  const auto read = std::from_chars(number.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value))
    refuse_station(text, fmt::format("\"{}\" must be x,y in metres", number));
  return value;
}

Point place_of(const std::string& text, const std::string& pair) {
  const auto comma = pair.find(',');
  if (comma == std::string::npos) refuse_station(text, fmt::format("\"{}\" must be x,y in metres", pair));
  return {metres(text, pair.substr(0, comma)), metres(text, pair.substr(comma + 1))};
}

// The place in an element, as (r, s).
std::array<double, 2> within(const Mesh& mesh, std::size_t e, Point p) {
  const Point a = mesh.corner(e, 0), b = mesh.corner(e, 1), c = mesh.corner(e, 2);
  const double twice = 2 * mesh.area(e);
  return {((p.x - a.x) * (c.y - a.y) - (c.x - a.x) * (p.y - a.y)) / twice,
          ((b.x - a.x) * (p.y - a.y) - (p.x - a.x) * (b.y - a.y)) / twice};
}

bool holds(const Mesh& mesh, std::size_t e, Point p) {
  const auto [r, s] = within(mesh, e, p);
  return r >= inside && s >= inside && 1 - r - s >= inside;
}

Station station_in(const Region& region, std::size_t e, Point p, double r, double s) {
  const Mesh& mesh = region.mesh;
  return {p, region.numbers[e], r, s, mesh.depth(e, 0) * (1 - r - s) + mesh.depth(e, 1) * r + mesh.depth(e, 2) * s};
}

// The first element that holds the place, if any.
std::optional<Station> found_in(const Mesh& coarse, int times, Point p) {
  Marks marks(coarse.elements());
  for (std::size_t e = 0; e < marks.size(); ++e) marks[e] = holds(coarse, e, p);
  const Region region = refined(kept(coarse, marks), times);
  for (std::size_t e = 0; e < region.mesh.elements(); ++e)
    if (holds(region.mesh, e, p)) {
      const auto [r, s] = within(region.mesh, e, p);
      return station_in(region, e, p, r, s);
    }
  return std::nullopt;
}

double distance(Point a, Point b) {
  return std::hypot(a.x - b.x, a.y - b.y);
}

// The first of the elements whose centres are nearest. A triangle has it only if it is not farther away than another
// one's farthest corner.
Station nearest_in(const Mesh& coarse, int times, Point p) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  std::vector<double> radii(coarse.elements(), 0.0);
  double enough = infinite;
  for (std::size_t e = 0; e < radii.size(); ++e) {
    for (int k = 0; k < 3; ++k) radii[e] = std::max(radii[e], distance(coarse.centre(e), coarse.corner(e, k)));
    enough = std::min(enough, distance(coarse.centre(e), p) + radii[e]);
  }
  Marks marks(coarse.elements());
  for (std::size_t e = 0; e < marks.size(); ++e) marks[e] = distance(coarse.centre(e), p) - radii[e] <= enough;
  const Region region = refined(kept(coarse, marks), times);
  std::size_t nearest = 0;
  double least = infinite;
  for (std::size_t e = 0; e < region.mesh.elements(); ++e) {
    const double away = distance(region.mesh.centre(e), p);
    if (away >= least) continue;
    least = away;
    nearest = e;
  }
  return station_in(region, nearest, region.mesh.centre(nearest), 1.0 / 3, 1.0 / 3);
}

}  // namespace

std::vector<Station> stations_at(const Mesh& mesh, int times, const std::string& text) {
  std::vector<Station> stations;
  std::istringstream in(text);
  for (std::string pair; std::getline(in, pair, ';');) {
    const auto found = found_in(mesh, times, place_of(text, pair));
    if (!found) refuse_station(text, fmt::format("{} is in no element: on land, or outside of the mesh", pair));
    stations.push_back(*found);
  }
  if (stations.empty()) refuse_station(text, "x,y in metres, and ; between several");
  return stations;
}

std::vector<Station> stations_near(const Mesh& mesh, int times, const std::vector<Point>& wanted) {
  std::vector<Station> stations;
  for (const Point& p : wanted) stations.push_back(nearest_in(mesh, times, p));
  return stations;
}

std::vector<Station> usual_stations(const Mesh& mesh, int times) {
  Point low = mesh.points.front(), high = low;
  for (const Point& p : mesh.points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  std::vector<Point> wanted;
  for (const double up : {0.25, 0.75})
    for (const double along : {0.25, 0.75})
      wanted.push_back({low.x + along * (high.x - low.x), low.y + up * (high.y - low.y)});
  return stations_near(mesh, times, wanted);
}

Seen seen_at(int order, const Station& station, const double* coefficients) {
  const std::size_t basis = basis_of(order);
  const BasisValues phi = basis_at(order, station.r, station.s);
  std::array<double, fields> values{};
  for (std::size_t f = 0; f < fields; ++f)
    for (std::size_t i = 0; i < basis; ++i) values[f] += coefficients[f * basis + i] * phi[i];
  const double height = station.bed + values[0];
  return {values[0], values[1] / height, values[2] / height};
}

const std::vector<Seen>* Sightings::of(std::uint64_t step) const {
  const auto found = std::ranges::lower_bound(steps, step);
  if (found == steps.end() || *found != step) return nullptr;
  return &seen[static_cast<std::size_t>(found - steps.begin())];
}

std::string stations_csv(const std::vector<Station>& stations, const Sightings& device, const Sightings& reference,
                         double time_step) {
  std::string text = "station,x_m,y_m,source,step,t_s,level_m,u_m_s,v_m_s\n";
  for (std::size_t i = 0; i < stations.size(); ++i)
    for (const Sightings* one : {&device, &reference})
      for (std::size_t k = 0; k < one->steps.size(); ++k) {
        const Seen& seen = one->seen[k][i];
        text += fmt::format("{},{},{},{},{},{},{},{},{}\n", i + 1, stations[i].at.x, stations[i].at.y,
                            one == &device ? "device" : "reference", one->steps[k],
                            static_cast<double>(one->steps[k]) * time_step, seen.level, seen.u, seen.v);
      }
  return text;
}

double off_levels(const Sightings& device, const Sightings& reference) {
  double off = 0;
  for (std::size_t k = 0; k < device.steps.size(); ++k) {
    const std::vector<Seen>* right = reference.of(device.steps[k]);
    for (std::size_t i = 0; right != nullptr && i < right->size(); ++i)
      if (const double one = std::abs(device.seen[k][i].level - (*right)[i].level); !(one <= off)) off = one;
  }
  return off;
}

std::complex<double> tide_seen(const Sightings& sightings, std::size_t station, double frequency, double time_step,
                               double begin) {
  double cc = 0, cs = 0, ss = 0, lc = 0, ls = 0;
  for (std::size_t k = 0; k < sightings.steps.size(); ++k) {
    const double t = static_cast<double>(sightings.steps[k]) * time_step;
    if (t < begin) continue;
    const double c = std::cos(frequency * t), s = std::sin(frequency * t), level = sightings.seen[k][station].level;
    cc += c * c;
    cs += c * s;
    ss += s * s;
    lc += level * c;
    ls += level * s;
  }
  const double whole = cc * ss - cs * cs;
  return {(lc * ss - ls * cs) / whole, -(ls * cc - lc * cs) / whole};
}

std::string npy_head(const std::vector<std::size_t>& shape) {
  std::string list;
  for (const std::size_t one : shape) list += fmt::format("{}, ", one);
  std::string head = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", list);
  constexpr std::size_t fixed = 10, unit = 64;  // magic, version and length; alignment of the data
  head.resize((fixed + head.size() + 1 + unit - 1) / unit * unit - fixed - 1, ' ');
  head += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += '\x01';
  bytes += '\0';
  bytes += static_cast<char>(head.size() % 256);
  bytes += static_cast<char>(head.size() / 256);
  return bytes + head;
}

}  // namespace plumb::shallow_water
