// ADCIRC's grid file, fort.14: title; elements and points; a line for each point and each element; open boundaries,
// then land boundaries. Text after the numbers of a line is a comment.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <numbers>
#include <sstream>
#include <unordered_map>

#include "benchmarks/apps/shallow_water/mesh.hpp"

namespace plumb::shallow_water {

namespace {

constexpr double earth_radius = 6378206.4;  // m, ADCIRC's

class Lines {
 public:
  Lines(const std::string& text, const std::string& name) : in_(text), name_(name) {}

  // The next line's first `wanted` numbers; throws UsageError if it has fewer.
  std::vector<double> numbers(std::size_t wanted, const std::string& what) {
    const std::string line = next(what);
    std::istringstream words(line);
    std::vector<double> numbers;
    for (std::string word; numbers.size() < wanted && words >> word;) {
      double value = 0;
      const auto end = word.data() + word.size();
      const char* begin = word.data() + (word.starts_with('+') ? 1 : 0);
      const auto read = std::from_chars(begin, end, value);
      if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value))
        refuse(fmt::format("\"{}\" is not a number ({})", word, what));
      numbers.push_back(value);
    }
    if (numbers.size() < wanted) refuse(fmt::format("{} needs {} numbers, not {}", what, wanted, numbers.size()));
    return numbers;
  }

  std::string next(const std::string& what) {
    std::string line;
    ++line_;
    if (!std::getline(in_, line)) refuse(fmt::format("the file ends before {}", what));
    return line;
  }

  std::uint64_t count(double value, const std::string& what, double most = 4e9) {
    if (value < 0 || value > most || value != std::floor(value)) refuse(fmt::format("{} is not {}", value, what));
    return static_cast<std::uint64_t>(value);
  }

  [[noreturn]] void refuse(const std::string& sentence) const { refuse_at(line_, sentence); }
  [[noreturn]] void refuse_at(std::uint64_t line, const std::string& sentence) const {
    throw UsageError(fmt::format("{}, line {}: {}", name_, line, sentence));
  }
  std::uint64_t line() const { return line_; }

 private:
  std::istringstream in_;
  std::string name_;
  std::uint64_t line_ = 0;
};

class Reader {
 public:
  Reader(const std::string& text, const std::string& name) : lines_(text, name) {}

  Mesh read(bool degrees) {
    lines_.next("the title");
    const auto sizes = lines_.numbers(2, "the line of the numbers of elements and vertices");
    const std::uint64_t elements = lines_.count(sizes[0], "a number of elements", static_cast<double>(most_elements));
    points_ = lines_.count(sizes[1], "a number of vertices");
    read_points(degrees);
    if (degrees) project();
    read_elements(elements);
    read_boundaries(false);
    read_boundaries(true);
    try {
      link(mesh_, outer_, labels_);
    } catch (const MeshError& error) {
      if (error.line > 0) lines_.refuse_at(error.line, error.what());
      if (error.point >= 0) lines_.refuse_at(first_point_ + static_cast<std::uint64_t>(error.point), error.what());
      lines_.refuse_at(first_element_ + static_cast<std::uint64_t>(std::max<std::int64_t>(error.element, 0)),
                       error.what());
    }
    return std::move(mesh_);
  }

 private:
  void read_points(bool degrees) {
    first_point_ = lines_.line() + 1;
    for (std::uint64_t i = 0; i < points_; ++i) {
      const auto values = lines_.numbers(4, "a vertex");
      const std::uint64_t label = lines_.count(values[0], "the number of a vertex");
      if (!numbers_.emplace(label, static_cast<std::uint32_t>(i)).second)
        lines_.refuse(fmt::format("vertex {} occurs twice", label));
      labels_.push_back(label);
      if (degrees && (std::abs(values[1]) > 360 || std::abs(values[2]) > 90))
        lines_.refuse(fmt::format("{}, {} are not a longitude and a latitude in degrees", values[1], values[2]));
      mesh_.points.push_back({values[1], values[2]});
      mesh_.depths.push_back(values[3]);
    }
  }

  // Longitude and latitude to metres, about the mean of all.
  void project() {
    double x0 = 0, y0 = 0;
    for (const Point& p : mesh_.points) {
      x0 += p.x / static_cast<double>(points_);
      y0 += p.y / static_cast<double>(points_);
    }
    constexpr double radian = std::numbers::pi / 180;
    for (Point& p : mesh_.points)
      p = {earth_radius * radian * (p.x - x0) * std::cos(radian * y0), earth_radius * radian * (p.y - y0)};
  }

  void read_elements(std::uint64_t elements) {
    first_element_ = lines_.line() + 1;
    for (std::uint64_t i = 0; i < elements; ++i) {
      const auto values = lines_.numbers(5, "an element");
      if (values[1] != 3) lines_.refuse(fmt::format("an element has {} vertices, not 3", values[1]));
      mesh_.corners.push_back({point(values[2]), point(values[3]), point(values[4])});
    }
  }

  void read_boundaries(bool of_land) {
    const std::string kind = of_land ? "land" : "open";
    const std::uint64_t boundaries =
        lines_.count(lines_.numbers(1, "the number of " + kind + " boundaries")[0], "a number of boundaries");
    lines_.numbers(1, "the number of vertices of all " + kind + " boundaries");
    for (std::uint64_t i = 0; i < boundaries; ++i) {
      const auto head = lines_.numbers(of_land ? 2 : 1, "the head of a " + kind + " boundary");
      const std::uint64_t count = lines_.count(head[0], "a number of vertices", static_cast<double>(points_) + 1);
      const auto type = of_land ? lines_.count(head[1], "a boundary type") : 0;
      if (of_land && type != 0 && type != 10 && type != 20 && type != 1 && type != 11 && type != 21)
        lines_.refuse(fmt::format("boundary type {} is unknown: land is 0, 10 or 20, an island 1, 11 or 21", head[1]));
      std::uint32_t first = 0, last = 0;
      for (std::uint64_t k = 0; k < count; ++k) {
        const std::uint32_t here = point(lines_.numbers(1, "a vertex of a boundary")[0]);
        if (k > 0) outer_.push_back({last, here, of_land ? land : sea, lines_.line()});
        if (k == 0) first = here;
        last = here;
      }
      if (type % 10 == 1 && count > 2 && last != first)
        outer_.push_back({last, first, land, lines_.line()});  // islands close
    }
  }

  std::uint32_t point(double label) {
    const auto found = numbers_.find(lines_.count(label, "the number of a vertex"));
    if (found == numbers_.end()) lines_.refuse(fmt::format("vertex {} is missing", label));
    return found->second;
  }

  Lines lines_;
  std::uint64_t points_ = 0, first_point_ = 0, first_element_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::vector<std::uint64_t> labels_;  // of vertices
  Mesh mesh_;
  std::vector<OuterEdge> outer_;
};

// Edges of one kind, joined into lines of points.
std::vector<std::vector<std::uint32_t>> chains(const Mesh& mesh, std::int32_t kind) {
  std::unordered_map<std::uint32_t, std::uint32_t> next;
  std::unordered_map<std::uint32_t, int> entered;
  std::vector<std::uint32_t> starts;
  for (std::size_t e = 0; e < mesh.elements(); ++e)
    for (std::size_t k = 0; k < 3; ++k)
      if (mesh.neighbours[e][k] == kind) {
        next[mesh.corners[e][k]] = mesh.corners[e][(k + 1) % 3];
        ++entered[mesh.corners[e][(k + 1) % 3]];
        starts.push_back(mesh.corners[e][k]);
      }
  std::vector<std::vector<std::uint32_t>> found;
  for (const bool of_rings : {false, true})
    for (const std::uint32_t start : starts) {
      if (!next.contains(start) || (!of_rings && entered.contains(start))) continue;
      std::vector<std::uint32_t> chain{start};
      for (auto step = next.find(start); step != next.end(); step = next.find(chain.back())) {
        chain.push_back(step->second);
        next.erase(step);
      }
      found.push_back(chain);
    }
  return found;
}

}  // namespace

Mesh read_fort14(const std::string& text, const std::string& name, bool degrees) {
  return Reader(text, name).read(degrees);
}

std::string write_fort14(const Mesh& mesh, const std::string& title) {
  std::string text = fmt::format("{}\n{} {}\n", title, mesh.elements(), mesh.points.size());
  for (std::size_t i = 0; i < mesh.points.size(); ++i)
    text += fmt::format("{} {} {} {}\n", i + 1, mesh.points[i].x, mesh.points[i].y, mesh.depths[i]);
  for (std::size_t e = 0; e < mesh.elements(); ++e)
    text +=
        fmt::format("{} 3 {} {} {}\n", e + 1, mesh.corners[e][0] + 1, mesh.corners[e][1] + 1, mesh.corners[e][2] + 1);
  for (const std::int32_t kind : {sea, land}) {
    const auto lines = chains(mesh, kind);
    std::size_t all = 0;
    for (const auto& line : lines) all += line.size();
    text += fmt::format("{} = number of {} boundaries\n{} = vertices of them\n", lines.size(),
                        kind == sea ? "open" : "land", all);
    for (const auto& line : lines) {
      text += kind == sea ? fmt::format("{}\n", line.size())
                          : fmt::format("{} {}\n", line.size(), line.front() == line.back() ? 1 : 0);
      for (const std::uint32_t point : line) text += fmt::format("{}\n", point + 1);
    }
  }
  return text;
}

}  // namespace plumb::shallow_water
