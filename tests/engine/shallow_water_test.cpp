// Shallow water's meshes, partitions, files, and the reference's order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "benchmarks/apps/shallow_water/flops.hpp"
#include "benchmarks/apps/shallow_water/partition.hpp"
#include "benchmarks/apps/shallow_water/reference.hpp"
#include "benchmarks/apps/shallow_water/region.hpp"
#include "benchmarks/apps/shallow_water/stations.hpp"
#include "core/embedded.hpp"

namespace plumb::shallow_water {
namespace {

using ::testing::HasSubstr;

Mesh bay(int triangles) {
  const std::string file = "benchmarks/apps/shallow_water/bay-" + std::to_string(triangles) + ".14";
  return read_fort14(embedded_text(file), file, false);
}

Mesh square(std::uint32_t n) {
  return rectangle(n, n, 10000, 10000, [](Point p) { return Plane().depth(p); });
}

std::vector<OuterEdge> outer_edges(const Mesh& mesh) {
  std::vector<OuterEdge> outer;
  for (std::size_t e = 0; e < mesh.elements(); ++e)
    for (std::size_t k = 0; k < 3; ++k)
      if (mesh.neighbours[e][k] < 0)
        outer.push_back({mesh.corners[e][k], mesh.corners[e][(k + 1) % 3], mesh.neighbours[e][k]});
  return outer;
}

TEST(ShallowWaterMesh, BaysHaveTheirElementsOneSeaAndTwoIslands) {
  for (const int triangles : {1696, 3392}) {
    const Mesh mesh = bay(triangles);
    EXPECT_EQ(mesh.elements(), static_cast<std::size_t>(triangles));
    std::size_t edges = 0;
    for (const auto& three : mesh.neighbours)
      edges += static_cast<std::size_t>(std::ranges::count_if(three, [](auto place) { return place < 0; }));
    // Euler: vertices - edges + elements = 1 - holes.
    EXPECT_EQ(mesh.points.size() + mesh.elements() + 1, (3 * mesh.elements() + edges) / 2);
  }
}

TEST(ShallowWaterMesh, RefinedNeighboursAreThoseFoundAnew) {
  Mesh mesh = refined(bay(1696), 2);
  EXPECT_EQ(mesh.elements(), 16U * 1696U);
  const auto neighbours = mesh.neighbours;
  link(mesh, outer_edges(mesh));
  EXPECT_EQ(mesh.neighbours, neighbours);
}

TEST(ShallowWaterMesh, Fort14IsReadAsWritten) {
  const Mesh mesh = bay(1696), again = read_fort14(write_fort14(mesh, "again"), "again", false);
  EXPECT_EQ(mesh.neighbours, again.neighbours);
  EXPECT_EQ(mesh.corners, again.corners);
}

TEST(ShallowWaterMesh, DegreesAreProjectedAboutTheirMean) {
  const std::string head = "title\n1 3\n1 10 59 5\n2 11 59 5\n";
  const std::string tail = "1 3 1 2 3\n0\n0\n1\n4\n4 0\n1\n2\n3\n1\n";
  const Mesh mesh = read_fort14(head + "3 10 62 5\n" + tail, "degrees", true);
  const double metres = 6378206.4 * std::numbers::pi / 180;
  EXPECT_NEAR(mesh.points[2].y - mesh.points[0].y, 3 * metres, 1e-6);
  EXPECT_NEAR(mesh.points[1].x - mesh.points[0].x, metres / 2, 1e-6);  // at 60 degrees
  try {
    read_fort14(head + "3 10 1000 5\n" + tail, "metres.14", true);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("metres.14, line 5: 10, 1000 are not a longitude and a latitude in degrees"));
  }
}

// A square of two elements; `from` replaced by `to` must be refused with the sentence.
struct BadFile {
  std::string from, to, sentence;
};
class ShallowWaterFort14 : public ::testing::TestWithParam<BadFile> {};

TEST_P(ShallowWaterFort14, ErrorsNameTheLine) {
  std::string text =
      "title\n2 4\n1 0 0 5\n2 1 0 5\n3 1 1 5\n4 0 1 5\n1 3 1 2 3\n2 3 1 3 4\n1\n2\n2\n1\n2\n1\n4\n4 0\n2\n3\n4\n1\n";
  EXPECT_EQ(read_fort14(text, "good", false).elements(), 2U);
  const auto& [from, to, sentence] = GetParam();
  const auto at = text.find(from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, from.size(), to);
  try {
    read_fort14(text, "bad.14", false);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr(sentence));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ShallowWaterFort14,
    ::testing::Values(
        BadFile{"2 3 1 3 4\n1\n", "2 3 1 3 9\n1\n", "line 8: vertex 9 is missing"},
        BadFile{"2 4\n", "2 x\n", "line 2: \"x\" is not a number"},
        BadFile{"4 0 1 5", "4 0 1 0", "line 6: the depth of vertex 4 is 0"},
        BadFile{"4 0 1 5", "4 0.5 0.5 5", "line 8: element 2 has no area"},
        BadFile{"2 4\n1 0 0 5\n2 1 0 5\n3 1 1 5\n4 0 1 5\n", "2 5\n1 0 0 5\n2 1 0 5\n3 1 1 5\n4 0 1 5\n5 3 3 5\n",
                "line 7: vertex 5 is in no element"},
        BadFile{"2 4\n1 0 0 5\n2 1 0 5\n3 1 1 5\n4 0 1 5\n1 3 1 2 3\n",
                "3 4\n1 0 0 5\n2 1 0 5\n3 1 1 5\n4 0 1 5\n1 3 1 2 3\n3 3 1 3 2\n",
                "line 9: the edge between vertices 1 and 3 is in three elements"},
        BadFile{"1\n4\n4 0\n2\n3\n4\n1\n", "1\n3\n3 0\n2\n3\n4\n",
                "line 8: the outer edge between vertices 1 and 4 has no kind"},
        BadFile{"1\n2\n1\n4\n", "1\n3\n1\n4\n", "line 13: vertices 1 and 3 are not the ends of an outer edge"},
        BadFile{"4 0\n2\n", "5 0\n1\n2\n",
                "line 18: vertices 1 and 2 are the ends of an edge that is both sea and land"},
        BadFile{"4 0 1 5\n1 3 1 2 3\n2 3 1 3 4\n1\n2\n2\n1\n2\n1\n4\n4 0\n2\n3\n4\n1\n",
                "9 0 1 5\n1 3 1 2 3\n2 3 1 3 9\n1\n2\n2\n1\n2\n1\n4\n3 0\n2\n3\n9\n",
                "line 8: the outer edge between vertices 1 and 9 has no kind"},
        BadFile{"4 0\n", "4 24\n", "line 16: boundary type 24 is unknown"},
        BadFile{"2 4\n1 0 0 5\n2 1 0 5\n3 1 1 5\n4 0 1 5\n1 3 1 2 3\n2 3 1 3 4\n1\n2\n2\n1\n2\n1\n4\n4 0\n2\n3\n4\n1\n",
                "2 6\n1 0 0 5\n2 1 0 5\n3 1 1 5\n4 5 0 5\n5 6 0 5\n6 6 1 5\n1 3 1 2 3\n2 3 4 5 6\n0\n0\n2\n8\n4 "
                "1\n1\n2\n3\n1\n4 1\n4\n5\n6\n4\n",
                "line 10: the mesh is in several parts"},
        BadFile{"4 0\n", "4 0.5\n", "line 16: 0.5 is not a boundary type"},
        BadFile{"2 1 0 5", "2 1 x 5", "line 4: \"x\" is not a number"},
        BadFile{"3\n4\n1\n", "3\n4\n", "the file ends before"}));

TEST(ShallowWaterPartition, EveryElementIsSomeonesAndMessagesMatch) {
  const Mesh mesh = bay(1696);
  for (const int ranks : {1, 2, 3, 5, 8})
    for (int kind = 0; kind < (metis_is_here() ? 3 : 2); ++kind) {
      const Owners owners = kind == 0   ? bisected(mesh, ranks)
                            : kind == 1 ? scattered(mesh, ranks, 7)
                                        : by_metis(mesh, ranks, false);
      std::vector<Part> parts;
      std::size_t own = 0;
      for (int rank = 0; rank < ranks; ++rank) own += parts.emplace_back(part_of(mesh, owners, rank)).own;
      EXPECT_EQ(own, mesh.elements());
      for (int rank = 0; rank < ranks; ++rank)
        for (const Neighbour& near : parts[static_cast<std::size_t>(rank)].neighbours) {
          const Part& other = parts[static_cast<std::size_t>(near.rank)];
          const auto back = std::ranges::find(other.neighbours, rank, &Neighbour::rank);
          ASSERT_NE(back, other.neighbours.end());
          ASSERT_EQ(back->receives, near.sends.size());
          for (std::size_t i = 0; i < near.sends.size(); ++i)
            EXPECT_EQ(parts[static_cast<std::size_t>(rank)].index[near.sends[i]],
                      other.index[other.own + back->first_received + i]);
        }
    }
}

// Elements that a walk from a rank's first one reaches without leaving it.
std::size_t reached_from_the_first(const Mesh& mesh, const Owners& owners, int rank) {
  std::vector<bool> seen(mesh.elements());
  std::vector<std::size_t> open{static_cast<std::size_t>(std::ranges::find(owners, rank) - owners.begin())};
  seen[open[0]] = true;
  std::size_t reached = 0;
  for (; !open.empty(); ++reached) {
    const std::size_t e = open.back();
    open.pop_back();
    for (const std::int32_t place : mesh.neighbours[e])
      if (const auto other = static_cast<std::size_t>(place / 4); place >= 0 && !seen[other] && owners[other] == rank) {
        seen[other] = true;
        open.push_back(other);
      }
  }
  return reached;
}

TEST(ShallowWaterPartition, MetisGivesTheSameConnectedPartsAgain) {
  if (!metis_is_here()) GTEST_SKIP() << "METIS is not installed";
  const Mesh mesh = bay(1696);
  for (const bool few_neighbours : {false, true}) {
    const Owners owners = by_metis(mesh, 8, few_neighbours);
    EXPECT_EQ(owners, by_metis(mesh, 8, few_neighbours));
    for (int rank = 0; rank < 8; ++rank)
      EXPECT_EQ(reached_from_the_first(mesh, owners, rank), static_cast<std::size_t>(std::ranges::count(owners, rank)));
  }
}

Marks marks_of(const Owners& owners, int rank) {
  Marks marks;
  for (const int owner : owners) marks.push_back(owner == rank);
  return marks;
}

Owners owners_in(const Region& region, const Owners& coarse, int times) {
  Owners owners;
  for (const std::uint32_t number : region.numbers) owners.push_back(coarse[number >> (2 * times)]);
  return owners;
}

std::vector<std::uint32_t> numbers_of(const Region& region, const std::vector<std::uint32_t>& indices) {
  std::vector<std::uint32_t> numbers;
  for (const std::uint32_t index : indices) numbers.push_back(region.numbers[index]);
  return numbers;
}

TEST(ShallowWaterRegion, ARanksRefinementIsTheWholeMeshs) {
  constexpr int times = 2, ranks = 3;
  const Mesh coarse = bay(1696), whole = refined(coarse, times);
  const Owners owners = bisected(coarse, ranks);
  const Region all = refined(kept(coarse, Marks(coarse.elements(), true)), times);
  EXPECT_EQ(all.mesh.neighbours, whole.neighbours);
  for (int rank = 0; rank < ranks; ++rank) {
    const Region region = refined(kept(coarse, with_edge_neighbours(coarse, marks_of(owners, rank))), times);
    ASSERT_LT(region.mesh.elements(), whole.elements() / 2);
    for (std::size_t e = 0; e < region.mesh.elements(); ++e)
      for (int k = 0; k < 3; ++k) {
        const Point here = region.mesh.corner(e, k), there = whole.corner(region.numbers[e], k);
        EXPECT_TRUE(here.x == there.x && here.y == there.y);
        EXPECT_EQ(region.mesh.depth(e, k), whole.depth(region.numbers[e], k));
      }
    const Part part = part_of(region.mesh, owners_in(region, owners, times), rank);
    const Part right = part_of(whole, owners_in(all, owners, times), rank);
    EXPECT_EQ(numbers_of(region, part.index), right.index);
    EXPECT_EQ(part.places, right.places);
    EXPECT_EQ(part.core, right.core);
    ASSERT_EQ(part.neighbours.size(), right.neighbours.size());
    for (std::size_t i = 0; i < part.neighbours.size(); ++i)
      EXPECT_EQ(part.neighbours[i].sends, right.neighbours[i].sends);
  }
}

// Elements within `layers` edges of the marked ones.
Marks within_edges(const Mesh& mesh, Marks marks, int layers) {
  for (int i = 0; i < layers; ++i) marks = with_edge_neighbours(mesh, marks);
  return marks;
}

TEST(ShallowWaterRegion, LayersHoldAllWithinAsManyEdges) {
  constexpr int times = 2;
  const Mesh coarse = bay(1696), whole = refined(coarse, times);
  const Owners owners = bisected(coarse, 4);
  Marks own(whole.elements());
  for (std::size_t e = 0; e < own.size(); ++e) own[e] = owners[e >> (2 * times)] == 2;
  for (const int layers : {0, 1, 4, 5, 9}) {
    const Marks held = with_layers(coarse, marks_of(owners, 2), static_cast<std::uint64_t>(layers), times);
    const Marks needed = within_edges(whole, own, layers);
    for (std::size_t e = 0; e < needed.size(); ++e) EXPECT_LE(needed[e], held[e >> (2 * times)]) << layers;
    EXPECT_LT(std::ranges::count(held, true), static_cast<std::ptrdiff_t>(coarse.elements()));
  }
}

// The own elements' bits after `steps` of p = 1 on what is within `layers` of them, beside those of the whole mesh.
bool has_the_bits_of_all(const Mesh& coarse, int steps, std::uint64_t layers) {
  constexpr int times = 1, order = 1;
  const Owners owners = bisected(coarse, 4);
  const auto state_of = [&](const Region& region) {
    const std::size_t components = fields * basis_of(order);
    Coefficients state(region.mesh.elements() * components);
    for (std::size_t e = 0; e < region.mesh.elements(); ++e)
      project_on(
          region.mesh, e, order, [](Point p) { return waves_at(p, 9e4); }, &state[e * components]);
    Reference reference(region.mesh, {}, order, {});
    for (int i = 0; i < steps; ++i) reference.step(state, i * 5.0, 5);
    Coefficients own;
    for (std::size_t e = 0; e < region.mesh.elements(); ++e)
      if (owners[region.numbers[e] >> (2 * times)] == 1)
        own.insert(own.end(), &state[e * components], &state[e * components] + components);
    return own;
  };
  return state_of(refined(kept(coarse, with_layers(coarse, marks_of(owners, 1), layers, times)), times)) ==
         state_of(refined(kept(coarse, Marks(coarse.elements(), true)), times));
}

TEST(ShallowWaterRegion, AStageReachesOneElementFurther) {
  const Mesh coarse = bay(1696);
  EXPECT_TRUE(has_the_bits_of_all(coarse, 3, 6));
  EXPECT_FALSE(has_the_bits_of_all(coarse, 3, 0));
}

TEST(ShallowWaterRegion, StationsAreThoseOfTheWholeMesh) {
  const Mesh coarse = bay(1696), whole = refined(coarse, 2);
  std::vector<Station> found = usual_stations(coarse, 2), right = usual_stations(whole, 0);
  const Point corner = whole.corner(5000, 1);
  const std::string places = "30000,40000;60000,20000;" + std::to_string(corner.x) + "," + std::to_string(corner.y);
  for (const Station& one : stations_at(coarse, 2, places)) found.push_back(one);
  for (const Station& one : stations_at(whole, 0, places)) right.push_back(one);
  ASSERT_EQ(found.size(), right.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].element, right[i].element);
    EXPECT_EQ(found[i].r, right[i].r);
    EXPECT_EQ(found[i].bed, right[i].bed);
  }
}

TEST(ShallowWaterPartition, PartFilesAreChecked) {
  EXPECT_EQ(read_owners("0\n1\n1\n", "x", 3, 2), (Owners{0, 1, 1}));
  EXPECT_THROW(read_owners("0\n2\n1\n", "x", 3, 2), UsageError);
  EXPECT_THROW(read_owners("0\n1\n", "x", 3, 2), UsageError);
  EXPECT_THROW(read_owners("0\n1\n1\n1\n", "x", 3, 2), UsageError);
}

// Of level, U and V: root of the mean square over the square, after 100 s.
Fields errors_of(int order, std::uint32_t n) {
  Physics physics;
  physics.coriolis = 1e-4;
  physics.friction = 0.003;
  physics.friction_kind = Friction::quadratic;
  Mesh mesh = square(n);
  make_outer_edges_exact(mesh);
  const Solution known = manufactured(physics, {}, 10000);
  const std::size_t basis = basis_of(order), components = fields * basis;
  Coefficients state(mesh.elements() * components);
  for (std::size_t e = 0; e < mesh.elements(); ++e)
    project_on(
        mesh, e, order, [&](Point p) { return known.state(p, 0); }, &state[e * components]);
  Reference reference(mesh, physics, order, known);
  const double end = 100;
  const auto steps = static_cast<int>(std::ceil(end / stable_step(mesh, physics, order, 0.5, 1, 1)));
  for (int i = 0; i < steps; ++i) reference.step(state, i * end / steps, end / steps);
  Fields sums{};
  for (std::size_t e = 0; e < mesh.elements(); ++e)
    for (const auto& [r, s, weight] : rule_of(2).inside) {
      const Fields exact = known.state(mesh.at(e, r, s), end);
      const BasisValues phi = basis_at(order, r, s);
      for (std::size_t f = 0; f < fields; ++f) {
        double value = 0;
        for (std::size_t i = 0; i < basis; ++i) value += state[e * components + f * basis + i] * phi[i];
        sums[f] += weight * mesh.area(e) * std::pow(value - exact[f], 2);
      }
    }
  for (double& sum : sums) sum = std::sqrt(sum) / 10000;
  return sums;
}

// Four meshes: every refinement lowers the errors, the last one with order p + 0.8 at least.
TEST(ShallowWaterReference, ErrorsOfAKnownSolutionFallWithTheOrder) {
  for (int order = 0; order < 3; ++order) {
    std::array<Fields, 4> errors{};
    for (std::size_t i = 0; i < errors.size(); ++i) errors[i] = errors_of(order, 4U << i);
    for (std::size_t f = 0; f < fields; ++f) {
      for (std::size_t i = 1; i < errors.size(); ++i) EXPECT_LT(errors[i][f], errors[i - 1][f]);
      EXPECT_GE(std::log2(errors[2][f] / errors[3][f]), order + 0.8) << "p " << order << ", field " << f;
    }
  }
}

TEST(ShallowWaterReference, ALevelAtRestStaysAndAClosedBayKeepsItsVolume) {
  Mesh mesh = bay(1696);
  for (auto& three : mesh.neighbours)
    for (auto& place : three)
      if (place == sea) place = land;
  for (int order = 0; order < 3; ++order) {
    const std::size_t components = fields * basis_of(order);
    Coefficients state(mesh.elements() * components, 0.0);
    for (std::size_t e = 0; e < mesh.elements(); ++e) state[e * components] = 0.5;
    Reference reference(mesh, {}, order, {});
    for (int i = 0; i < 3; ++i) reference.step(state, 0, 5);
    for (std::size_t i = 0; i < state.size(); ++i) EXPECT_NEAR(state[i], i % components == 0 ? 0.5 : 0, 1e-12);
  }
}

TEST(ShallowWaterStations, LieInTheirElementsOrAreRefused) {
  const Mesh mesh = bay(1696);
  const Point centre = mesh.centre(700);
  const auto found = stations_at(mesh, 0, std::to_string(centre.x) + "," + std::to_string(centre.y));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].element, 700U);
  EXPECT_NEAR(found[0].r, 1.0 / 3, 1e-6);
  EXPECT_EQ(usual_stations(mesh, 0).size(), 4U);
  for (const char* wrong : {"58000,35000", "1e9,0", "5", "5,x", "5,5;", ";"})
    EXPECT_THROW(stations_at(mesh, 0, wrong), UsageError) << wrong;
}

TEST(ShallowWaterStations, ATideIsFoundInWhatTheySee) {
  Sightings seen;
  for (std::uint64_t step = 0; step < 50; ++step) {
    seen.steps.push_back(step);
    const double t = 900.0 * static_cast<double>(step);
    seen.seen.push_back({{7, 0, 0}, {0.3 * std::cos(1.4e-4 * t + 0.5), 0, 0}});
  }
  const auto tide = tide_seen(seen, 1, 1.4e-4, 900, 3600);
  EXPECT_NEAR(std::abs(tide), 0.3, 1e-12);
  EXPECT_NEAR(std::arg(tide), 0.5, 1e-12);
}

TEST(ShallowWaterStations, LevelsAreComparedInCommonSteps) {
  const Sightings device{{0, 4}, {{{1, 0, 0}}, {{2, 0, 0}}}};
  const Sightings reference{{0, 1, 2}, {{{1.5, 0, 0}}, {{9, 0, 0}}, {{9, 0, 0}}}};
  EXPECT_EQ(off_levels(device, reference), 0.5);
  const Sightings broken{{0}, {{{std::nan(""), 0, 0}}}};
  EXPECT_TRUE(std::isnan(off_levels(broken, reference)));
}

TEST(ShallowWaterPhysics, RingHasItsLevelOutsideAndNoFlowInside) {
  const Ring ring;
  EXPECT_NEAR(std::abs(ring.level(ring.outer, 9.81)), ring.amplitude, 1e-15);
  EXPECT_NEAR(std::abs(ring.transport(ring.inner, 9.81)), 0, 1e-7);
}

TEST(ShallowWaterPhysics, ATideIsReadFromAFile) {
  const std::string good =
      "# two\n[[constituent]]\nname = \"M2\"\namplitude_m = +0.5 # m\nfrequency_rad_s = 1.4e-4\nphase_rad = 0.25\n"
      "\n[[constituent]]\nphase_rad = 0\nfrequency_rad_s = 0\namplitude_m = 2\n";
  const Tide tide = read_tide(good, "good.toml", 100);
  EXPECT_DOUBLE_EQ(tide.level(50), 0.5 * (0.5 * std::cos(1.4e-4 * 50 - 0.25) + 2));
  const auto sentence_of = [](const std::string& text) -> std::string {
    try {
      read_tide(text, "bad.toml", 0);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  const std::string table = "[[constituent]]\n";
  EXPECT_EQ(sentence_of(""), "bad.toml, line 1: there is no table [[constituent]]");
  EXPECT_THAT(sentence_of("phase_rad = 1\n"), HasSubstr("line 1: \"phase_rad = 1\" is neither"));
  EXPECT_THAT(sentence_of(table + "\nheight = 1\n"), HasSubstr("line 3: \"height\" must be name or one of"));
  EXPECT_THAT(sentence_of(table + "phase_rad = x\n"), HasSubstr("line 2: \"x\" is not a number"));
  EXPECT_THAT(sentence_of(table + "phase_rad = 1\nphase_rad = 1\n"), HasSubstr("line 3: phase_rad occurs twice"));
  EXPECT_THAT(sentence_of("\n" + table + "phase_rad = 1\n"), HasSubstr("line 2: a constituent needs amplitude_m"));
}

// Of the equations in README.md, by hand, with quadratic friction. An edge's flux is half of each of its elements'.
TEST(ShallowWaterPhysics, OperationsOfConstantElementsAreThoseOfTheEquations) {
  Physics physics;
  physics.friction_kind = Friction::quadratic;
  const double velocities = 4;                                          // H, 1/H, u, v
  const double bed = 6, push = 1, turning = 6;                          // slopes of h_b; g level; both sources
  const double friction = 6 + 1 + 4;                                    // C |u| / H, H, and its share of both
  const double normals = 8, moved = 9;                                  // of three edges; three fields' c + dt rate
  const double edge = 3 + 4 + 1;                                        // length squared, h_b, H
  const double through = 4 * 3, pressure = 8, fastest = 1 + 2 * 3 + 1;  // no mirror: inner edges
  const double flux = edge + through + pressure + fastest + 4 + 2 * 8;
  const double added = 3 * 2;  // weight and sum of each field, on both sides
  const double whole =
      velocities + bed + push + turning + friction + normals + moved - 1;  // a level's first sum is 0 + x
  EXPECT_EQ(flops_of_step(0, physics), whole + 1.5 * (flux + 2 * added));
}

TEST(ShallowWaterPhysics, OperationsGrowWithTheOrder) {
  const double constant = flops_of_step(0, {}), linear = flops_of_step(1, {}), quadratic = flops_of_step(2, {});
  EXPECT_GT(constant, 50);
  EXPECT_GT(linear, 4 * constant);
  EXPECT_GT(quadratic, 2 * linear);
}

}  // namespace
}  // namespace plumb::shallow_water
