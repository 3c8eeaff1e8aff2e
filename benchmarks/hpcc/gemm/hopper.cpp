// The form for GPUs of compute capability 9.0 (Hopper): hopper.cu, for runtime cuda only.
#include "benchmarks/hpcc/gemm/hopper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "benchmarks/hpcc/gemm/form.hpp"
#include "core/embedded.hpp"

namespace plumb::gemm {

namespace {

constexpr std::size_t group_items = 384;
constexpr std::size_t row_bytes = 128;                  // of tiles in local memory
constexpr std::size_t largest_local_bytes = 227 << 10;  // per group, for compute capability 9.0
constexpr std::size_t alignment_bytes = 1024, barrier_bytes = 128;
constexpr std::size_t most_stages = 8;
constexpr std::size_t narrow = 128, widest = 256, least_wide = 64, width_step = 32;
// Fixed cost of a tile, as additional width.
constexpr std::size_t width_of_overhead = 32;
constexpr std::size_t copy_alignment = 16;  // of rows, for the copy engine
constexpr std::size_t repacked_alignment = 128;

// Tile of two groups, 256 x `wide`: the wide side are the columns, for tf32 the rows.
void choose_wide(const Problem& problem, unsigned multiprocessors, HopperTiles& tiles) {
  const bool is_tf32 = problem.element.short_factors;
  tiles.groups = 2;
  const std::size_t across = is_tf32 ? problem.rows : problem.columns;
  const std::size_t narrow_tiles = pieces(is_tf32 ? problem.columns : problem.rows, 2 * narrow);
  const std::size_t at_once = std::max<std::size_t>(multiprocessors / tiles.groups, 1);
  std::size_t least_cost = 0, chosen = widest;
  for (std::size_t wide = widest; wide >= least_wide; wide -= width_step) {
    const std::size_t count = narrow_tiles * pieces(across, wide);
    const std::size_t cost = pieces(count, at_once) * (wide + width_of_overhead);
    if (least_cost != 0 && cost >= least_cost) continue;
    least_cost = cost;
    chosen = wide;
  }
  tiles.rows = is_tf32 ? chosen : 2 * narrow;
  tiles.columns = is_tf32 ? 2 * narrow : chosen;
  // Each group sends half of the wide side to both.
  tiles.a_copy_rows = is_tf32 ? chosen / 2 : narrow;
  tiles.b_copy_rows = 32;
}

// Tile of one group: `rows` x 128. Fewer rows where that fills the multiprocessors' last round better.
void choose_rows(const Problem& problem, unsigned multiprocessors, HopperTiles& tiles) {
  const auto cost = [&](std::size_t rows) {
    const std::size_t count = pieces(problem.rows, rows) * pieces(problem.columns, tiles.columns);
    return pieces(count, multiprocessors) * (rows + width_of_overhead);
  };
  constexpr std::size_t fewer = 128, most = 256;
  tiles.rows = tiles.a_copy_rows = cost(fewer) < cost(most) ? fewer : most;
}

bool by_warpgroups(const Element& element) {
  return size_of(element.stored) == 2 || element.short_factors;
}

std::size_t stage_bytes(const Problem& problem, const HopperTiles& tiles) {
  if (!by_warpgroups(problem.element)) return (tiles.rows + tiles.columns) * row_bytes;
  const std::size_t wide = problem.element.short_factors ? tiles.rows : tiles.columns;
  const bool in_boxes = size_of(problem.element.stored) == 2;  // of 64 columns by 64 inner indices
  return narrow * row_bytes + (in_boxes ? pieces(wide, 64) * 64 : wide) * row_bytes;
}

const char* units_of(const Element& element) {
  if (by_warpgroups(element)) return "wgmma (PTX sm_90a)";
  return element.computed == ScalarType::f64 ? "mma (PTX sm_90)" : "none";
}

// Sums of a warp's 16 rows in transit to C.
std::size_t between_bytes(const Element& element) {
  return size_of(element.stored) == 2 ? 8 * 16 * 40 * sizeof(float) : 0;
}

class HopperForm final : public OneQueueForm {
 public:
  HopperForm(Session& session, const Problem& problem)
      : OneQueueForm(session, problem),
        tiles_(hopper_tiles(problem, session.device.info().compute_units)),
        program_(session.device.build(session.source({.name = "hopper.cu",
                                                      .opencl = embedded_text("benchmarks/hpcc/gemm/hopper.cu"),
                                                      .options = hopper_options(problem, tiles_),
                                                      .is_cuda = true}))),
        gemm_(program_->kernel("gemm")) {
    tiled_a_ = tiled(*a_, problem.rows, problem.inner, tiles_.a_copy_rows);
    a_is_repacked_ = !repackings_.empty();
    const TiledMatrix b = tiled(*b_, problem.inner, problem.columns, tiles_.b_copy_rows);
    gemm_->set({tiled_a_, b, static_cast<const Buffer*>(c_.get()), static_cast<const Buffer*>(out_.get()),
                factor(problem.element, problem.alpha), factor(problem.element, problem.beta), word(problem.rows),
                word(problem.columns), word(problem.inner)});
    const std::size_t at_once = session.device.info().compute_units / tiles_.groups;
    range_ = {std::min(tiles_.count, at_once) * tiles_.groups * group_items, group_items, tiles_.local_bytes};
  }

  void enqueue(std::uint64_t later) override {
    if (a_is_repacked_) {
      repackings_.front().kernel->set(0, a(later));
    } else {
      tiled_a_.view = a(later);
      gemm_->set(0, tiled_a_);
    }
    gemm_->set(2, c(later));
    gemm_->set(3, out(later));
    for (const Repacking& repacking : repackings_)
      queue_->enqueue(*repacking.kernel, {repacking.rows * repack_items, repack_items});
    queue_->enqueue(*gemm_, range_);
  }

  Json facts() const override {
    return {{"variant", "nd_range"},
            {"kernel", "hopper"},
            {"tile", fmt::format("{}x{}x{}", tiles_.rows, tiles_.columns, tiles_.depth)},
            {"stages", tiles_.stages},
            {"matrix_units", units_of(problem_.element)},
            {"padded", !repackings_.empty()}};
  }

 private:
  static constexpr std::size_t repack_items = 256;

  struct Repacking {
    std::unique_ptr<Kernel> kernel;
    std::size_t rows;
  };

  TiledMatrix tiled(Buffer& matrix, std::size_t rows, std::size_t columns, std::size_t tile_rows) {
    const std::size_t own_bytes = problem_.bytes(columns);
    TiledMatrix tiled{.view = whole(matrix),
                      .columns = columns,
                      .rows = rows,
                      .row_bytes = hopper_row_bytes(own_bytes),
                      .element_bytes = size_of(problem_.element.stored),
                      .to_tf32 = problem_.element.short_factors,
                      .tile_rows = tile_rows};
    if (tiled.row_bytes == own_bytes) return tiled;
    Buffer& to = add_scratch(rows * tiled.row_bytes);
    Repacking repacking{program_->kernel("repack"), rows};
    repacking.kernel->set({static_cast<const Buffer*>(&matrix), static_cast<const Buffer*>(&to), word(own_bytes),
                           word(tiled.row_bytes / copy_alignment), word(rows)});
    repackings_.push_back(std::move(repacking));
    tiled.view = whole(to);
    return tiled;
  }

  HopperTiles tiles_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> gemm_;
  TiledMatrix tiled_a_;
  bool a_is_repacked_ = false;  // in the first of the repackings
  std::vector<Repacking> repackings_;
  KernelRange range_;
};

}  // namespace

HopperTiles hopper_tiles(const Problem& problem, unsigned multiprocessors) {
  HopperTiles tiles;
  tiles.depth = row_bytes / size_of(problem.element.stored);
  if (by_warpgroups(problem.element)) {
    choose_wide(problem, multiprocessors, tiles);
  } else {
    tiles.b_copy_rows = tiles.depth;
    if (problem.element.computed == ScalarType::f32) choose_rows(problem, multiprocessors, tiles);
  }
  tiles.count = pieces(problem.rows, tiles.rows) * pieces(problem.columns, tiles.columns);
  const std::size_t beside = alignment_bytes + barrier_bytes + between_bytes(problem.element);
  const std::size_t stage = stage_bytes(problem, tiles);
  tiles.stages = std::min(most_stages, (largest_local_bytes - beside) / stage);
  tiles.local_bytes = beside + tiles.stages * stage;
  return tiles;
}

std::string hopper_options(const Problem& problem, const HopperTiles& tiles) {
  const Element& element = problem.element;
  std::string type = element.name;
  std::transform(type.begin(), type.end(), type.begin(), [](unsigned char letter) { return std::toupper(letter); });
  const bool is_tf32 = element.short_factors;
  return fmt::format("-D{} -D{}={} -DSTAGES={} -DBAND=8{}", type, by_warpgroups(element) ? "WIDE" : "ROWS",
                     by_warpgroups(element) && !is_tf32 ? tiles.columns : tiles.rows, tiles.stages,
                     problem.columns % hopper_together(element) == 0 ? " -DALIGNED" : "");
}

std::size_t hopper_together(const Element& element) {
  return element.short_factors ? 2 : 16 / size_of(element.stored);
}

std::size_t hopper_row_bytes(std::size_t own_bytes) {
  return own_bytes % copy_alignment == 0 ? own_bytes : pieces(own_bytes, repacked_alignment) * repacked_alignment;
}

std::uint64_t hopper_scratch_bytes(const Problem& problem) {
  const auto scratch = [&](std::size_t rows, std::size_t columns) {
    const std::size_t own = problem.bytes(columns), packed = hopper_row_bytes(own);
    return packed == own ? 0 : rows * packed;
  };
  return scratch(problem.rows, problem.inner) + scratch(problem.inner, problem.columns);
}

std::unique_ptr<Form> make_hopper(Session& session, const Problem& problem) {
  if (session.device.info().runtime != "cuda")
    throw Unsupported("--kernel hopper needs runtime cuda and an NVIDIA GPU of compute capability 9.0");
  return std::make_unique<HopperForm>(session, problem);
}

}  // namespace plumb::gemm
