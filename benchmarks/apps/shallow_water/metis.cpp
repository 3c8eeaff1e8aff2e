// METIS 5 (Karypis, Kumar), loaded at run time.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "benchmarks/apps/shallow_water/partition.hpp"

namespace plumb::shallow_water {

namespace {

// metis.h of version 5.1
constexpr std::size_t options_of_metis = 40;
enum MetisOption : std::size_t { seed_option = 8, minconn_option = 10, contig_option = 11, numbering_option = 17 };
constexpr int metis_ok = 1;

using SetDefaults = int (*)(void* options);
using PartGraph = int (*)(void* vertices, void* constraints, void* starts, void* edges, void* vertex_weights,
                          void* sizes, void* edge_weights, void* parts, void* wishes, void* imbalance, void* options,
                          void* cut, void* part);

struct Metis {
  SetDefaults set_defaults = nullptr;
  PartGraph part_graph = nullptr;
};

const Metis& metis() {
  static const Metis found = [] {
    const char* named = std::getenv("PLUMBLINE_METIS");  // the library's file, where the loader does not find it
    for (const char* name : {named != nullptr ? named : "libmetis.so.5", named != nullptr ? named : "libmetis.so"})
      if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL); library != nullptr)
        return Metis{reinterpret_cast<SetDefaults>(dlsym(library, "METIS_SetDefaultOptions")),
                     reinterpret_cast<PartGraph>(dlsym(library, "METIS_PartGraphKway"))};
    return Metis{};
  }();
  return found;
}

// Idx: the library's idx_t.
template <class Idx>
Owners partition(const Mesh& mesh, int ranks, bool few_neighbours) {
  std::vector<Idx> starts{0}, edges;
  for (const auto& three : mesh.neighbours) {
    for (const std::int32_t place : three)
      if (place >= 0) edges.push_back(place / 4);
    starts.push_back(static_cast<Idx>(edges.size()));
  }
  std::array<Idx, options_of_metis> options{};
  metis().set_defaults(options.data());
  options[seed_option] = 1;
  options[contig_option] = 1;
  options[minconn_option] = few_neighbours ? 1 : 0;
  options[numbering_option] = 0;
  Idx vertices = static_cast<Idx>(mesh.elements()), constraints = 1, parts = ranks, cut = 0;
  std::vector<Idx> part(mesh.elements());
  const int status = metis().part_graph(&vertices, &constraints, starts.data(), edges.data(), nullptr, nullptr, nullptr,
                                        &parts, nullptr, nullptr, options.data(), &cut, part.data());
  if (status != metis_ok)
    throw Error(
        fmt::format("METIS could not partition {} elements for {} ranks (status {})", mesh.elements(), ranks, status));
  return {part.begin(), part.end()};
}

// Default options are -1 in all entries: 8 bytes each or 4.
bool has_wide_numbers() {
  std::array<std::int64_t, 2 * options_of_metis> options{};
  metis().set_defaults(options.data());
  return options[options_of_metis * 3 / 4] != 0;
}

}  // namespace

bool metis_is_here() {
  return metis().set_defaults != nullptr && metis().part_graph != nullptr;
}

Owners by_metis(const Mesh& mesh, int ranks, bool few_neighbours) {
  if (!metis_is_here())
    throw UsageError(
        "--partitioner metis needs METIS 5 (package libmetis5; PLUMBLINE_METIS names its file elsewhere), which is not "
        "here: use rcb");
  if (ranks == 1) return Owners(mesh.elements());
  return has_wide_numbers() ? partition<std::int64_t>(mesh, ranks, few_neighbours)
                            : partition<std::int32_t>(mesh, ranks, few_neighbours);
}

}  // namespace plumb::shallow_water
