// The tuned form for GPUs: gpu.cl, with an NVIDIA GPU's matrix units where the type has some.
#include <fmt/format.h>

#include "benchmarks/hpcc/common/single_device.hpp"
#include "benchmarks/hpcc/gemm/form.hpp"
#include "core/embedded.hpp"

namespace plumb::gemm {

namespace {

// gpu.cl says what each is.
struct GpuTiles {
  std::size_t items = 256;
  std::size_t rows = 128, columns = 128, depth = 16;  // ROWS, COLUMNS, DEPTH
  std::size_t warp_columns = 0;                       // WARP_COLUMNS, of matrix units
};

GpuTiles plain_tiles(const Element& element) {
  GpuTiles tiles;
  if (element.computed == ScalarType::f64) tiles.depth = 8;
  return tiles;
}

// Strips of four chunks of 16 bytes, two or three of which fill 48 KiB of local memory.
GpuTiles unit_tiles(const Element& element) {
  GpuTiles tiles;
  tiles.depth = 4 * 16 / size_of(element.stored);
  const bool in_double = element.computed == ScalarType::f64;
  tiles.columns = in_double ? 128 : 256;
  tiles.warp_columns = in_double ? 32 : 64;
  return tiles;
}

std::size_t rounded_up(std::size_t value, std::size_t unit) {
  return pieces(value, unit) * unit;
}

// A's and B's sizes in whole tiles and strips.
struct Padded {
  Padded(const Problem& problem, const GpuTiles& tiles)
      : rows(rounded_up(problem.rows, tiles.rows)),
        columns(rounded_up(problem.columns, tiles.columns)),
        inner(rounded_up(problem.inner, tiles.depth)),
        a(rows != problem.rows || inner != problem.inner),
        b(columns != problem.columns || inner != problem.inner) {}

  std::size_t rows, columns, inner;
  bool a, b;  // whether there is anything to pad
};

bool is_nvidia(const DeviceInfo& device) {
  return device.runtime == "cuda" || device.vendor.find("NVIDIA") != std::string::npos;
}

// What an element is called in gpu.cl.
std::string gpu_element_options(const Element& element) {
  if (element.stored == ScalarType::f16) return "-DELEMENT=ushort -DREAL=float -DHALF";
  if (element.stored == ScalarType::f64) return "-DELEMENT=double -DREAL=double -DDOUBLE";
  return element.short_factors ? "-DELEMENT=float -DREAL=float -DTF32" : "-DELEMENT=float -DREAL=float";
}

class GpuForm final : public OneQueueForm {
 public:
  GpuForm(Session& session, const Problem& problem, bool matrix_units) : OneQueueForm(session, problem) {
    const bool has_units = problem.element.stored != ScalarType::f32 || problem.element.short_factors;
    build(matrix_units && has_units && is_nvidia(session.device.info()));
    const Padded padded(problem, tiles_);
    const Buffer* a = a_.get();
    const Buffer* b = b_.get();
    if (padded.a) a = pad(*a_, problem.rows, problem.inner, padded.rows, padded.inner);
    if (padded.b) b = pad(*b_, problem.inner, problem.columns, padded.inner, padded.columns);
    gemm_ = program_->kernel("gemm");
    gemm_->set({a, b, static_cast<const Buffer*>(c_.get()), static_cast<const Buffer*>(out_.get()),
                factor(problem.element, problem.alpha), factor(problem.element, problem.beta), word(problem.rows),
                word(problem.columns), word(padded.inner), word(padded.columns)});
    groups_ = padded.rows / tiles_.rows * (padded.columns / tiles_.columns);
  }

  void enqueue() override {
    for (const Padding& padding : paddings_) queue_->enqueue(*padding.kernel, {padding.rows * pad_items, pad_items});
    queue_->enqueue(*gemm_, {groups_ * tiles_.items, tiles_.items});
  }

  Json facts() const override {
    return {{"variant", "nd_range"},
            {"kernel", "gpu"},
            {"tile", fmt::format("{}x{}x{}", tiles_.rows, tiles_.columns, tiles_.depth)},
            {"matrix_units", architecture_ > 0 ? fmt::format("PTX sm_{}", architecture_) : "none"},
            {"padded", !paddings_.empty()}};
  }

 private:
  static constexpr std::size_t pad_items = 256;

  struct Padding {
    std::unique_ptr<Kernel> kernel;
    std::size_t rows;
  };

  // Newer instructions first; a driver that has none of them refuses them when it compiles.
  void build(bool matrix_units) {
    if (matrix_units)
      for (const int architecture : {90, 80}) {
        try {
          return build(unit_tiles(problem_.element), architecture);
        } catch (const Error&) {
          continue;
        }
      }
    build(plain_tiles(problem_.element), 0);
  }

  void build(const GpuTiles& tiles, int architecture) {
    const bool whole = problem_.rows % tiles.rows == 0 && problem_.columns % tiles.columns == 0;
    std::string options =
        fmt::format("{} -DITEMS={} -DROWS={} -DCOLUMNS={} -DDEPTH={}{}", gpu_element_options(problem_.element),
                    tiles.items, tiles.rows, tiles.columns, tiles.depth, whole ? "" : " -DGUARD");
    if (architecture > 0)
      options += fmt::format(" -DMATRIX_UNITS={} -DWARP_COLUMNS={}", architecture, tiles.warp_columns);
    program_ = session_.device.build(session_.source(
        {.name = "gpu.cl", .opencl = embedded_text("benchmarks/hpcc/gemm/gpu.cl"), .options = options}));
    tiles_ = tiles;
    architecture_ = architecture;
  }

  const Buffer* pad(const Buffer& from, std::size_t rows, std::size_t columns, std::size_t padded_rows,
                    std::size_t padded_columns) {
    const Buffer& to = add_scratch(problem_.bytes(padded_rows * padded_columns));
    Padding padding{program_->kernel("pad"), padded_rows};
    padding.kernel->set({&from, &to, word(rows), word(columns), word(padded_columns)});
    paddings_.push_back(std::move(padding));
    return &to;
  }

  GpuTiles tiles_;
  int architecture_ = 0;  // of PTX; 0 = plain arithmetic
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> gemm_;
  std::vector<Padding> paddings_;
  std::size_t groups_ = 0;
};

}  // namespace

std::uint64_t gpu_scratch_bytes(const Problem& problem) {
  std::uint64_t most = 0;
  for (const GpuTiles& tiles : {plain_tiles(problem.element), unit_tiles(problem.element)}) {
    const Padded padded(problem, tiles);
    const std::size_t items =
        (padded.a ? padded.rows * padded.inner : 0) + (padded.b ? padded.inner * padded.columns : 0);
    most = std::max<std::uint64_t>(most, problem.bytes(items));
  }
  return most;
}

std::unique_ptr<Form> make_gpu(Session& session, const Problem& problem, const GpuWish& wish) {
  const DeviceInfo& device = session.device.info();
  if (problem.element.short_factors && !is_nvidia(device) && !wish.asked_for)
    throw Unsupported("type tf32 needs an NVIDIA GPU's matrix units (--kernel gpu computes the same without them)");
  hpcc::require_type(session.device.info(), problem.element.computed);
  return std::make_unique<GpuForm>(session, problem, wish.matrix_units);
}

}  // namespace plumb::gemm
