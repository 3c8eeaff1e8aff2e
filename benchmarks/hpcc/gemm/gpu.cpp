// The tuned form for GPUs: gpu.cl, with an NVIDIA GPU's matrix units for supported types.
#include "benchmarks/hpcc/gemm/gpu.hpp"

#include <fmt/format.h>

#include "benchmarks/hpcc/common/single_device.hpp"
#include "benchmarks/hpcc/gemm/form.hpp"
#include "core/embedded.hpp"

namespace plumb::gemm {

namespace {

std::size_t rounded_up(std::size_t value, std::size_t unit) {
  return pieces(value, unit) * unit;
}

// Sizes of A and B in whole tiles and strips.
struct Padded {
  Padded(const Problem& problem, const GpuTiles& tiles)
      : rows(rounded_up(problem.rows, tiles.rows)),
        columns(rounded_up(problem.columns, tiles.columns)),
        inner(rounded_up(problem.inner, tiles.depth)),
        a(rows != problem.rows || inner != problem.inner),
        b(columns != problem.columns || inner != problem.inner) {}

  std::size_t rows, columns, inner;
  bool a, b;  // whether padding is needed
};

bool is_nvidia(const DeviceInfo& device) {
  return device.runtime == "cuda" || device.vendor.find("NVIDIA") != std::string::npos;
}

class GpuForm final : public OneQueueForm {
 public:
  GpuForm(Session& session, const Problem& problem, bool matrix_units) : OneQueueForm(session, problem) {
    build(matrix_units && has_matrix_units(problem.element) && is_nvidia(session.device.info()));
    const Padded padded(problem, tiles_);
    const Buffer* a = a_.get();
    const Buffer* b = b_.get();
    pads_a_ = padded.a;
    if (padded.a) a = pad(*a_, problem.rows, problem.inner, padded.rows, padded.inner);
    if (padded.b) b = pad(*b_, problem.inner, problem.columns, padded.inner, padded.columns);
    gemm_ = program_->kernel("gemm");
    gemm_->set({a, b, static_cast<const Buffer*>(c_.get()), static_cast<const Buffer*>(out_.get()),
                factor(problem.element, problem.alpha), factor(problem.element, problem.beta), word(problem.rows),
                word(problem.columns), word(padded.inner), word(padded.columns)});
    groups_ = padded.rows / tiles_.rows * (padded.columns / tiles_.columns);
  }

  void enqueue(std::uint64_t later) override {
    (pads_a_ ? *paddings_.front().kernel : *gemm_).set(0, a(later));
    gemm_->set(2, c(later));
    gemm_->set(3, out(later));
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

  // Newest instructions first; drivers that lack them fail at compilation.
  void build(bool matrix_units) {
    if (matrix_units)
      for (const int architecture : unit_architectures) {
        try {
          return compile(architecture);
        } catch (const Error&) {
          continue;
        }
      }
    compile(0);
  }

  void compile(int architecture) {
    program_ = session_.device.build(session_.source({.name = "gpu.cl",
                                                      .opencl = embedded_text("benchmarks/hpcc/gemm/gpu.cl"),
                                                      .options = gpu_options(problem_, architecture)}));
    tiles_ = gpu_tiles(problem_.element, architecture);
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
  bool pads_a_ = false;  // in the first group of launches
  std::vector<Padding> paddings_;
  std::size_t groups_ = 0;
};

}  // namespace

bool has_matrix_units(const Element& element) {
  return element.stored != ScalarType::f32 || element.short_factors;
}

GpuTiles gpu_tiles(const Element& element, int architecture) {
  const bool in_double = element.computed == ScalarType::f64;
  GpuTiles tiles;
  if (architecture == 0) {
    if (in_double) tiles.depth = 8;
    return tiles;
  }
  // Strips of four chunks of 16 bytes, two or three of which fill 48 KiB of local memory.
  tiles.depth = 4 * 16 / size_of(element.stored);
  tiles.columns = in_double ? 128 : 256;
  tiles.warp_columns = in_double ? 32 : 64;
  return tiles;
}

std::string gpu_options(const Problem& problem, int architecture) {
  const Element& element = problem.element;
  const GpuTiles tiles = gpu_tiles(element, architecture);
  std::string options = element.stored == ScalarType::f16   ? "-DELEMENT=ushort -DREAL=float -DHALF"
                        : element.stored == ScalarType::f64 ? "-DELEMENT=double -DREAL=double -DDOUBLE"
                        : element.short_factors             ? "-DELEMENT=float -DREAL=float -DTF32"
                                                            : "-DELEMENT=float -DREAL=float";
  options +=
      fmt::format(" -DITEMS={} -DROWS={} -DCOLUMNS={} -DDEPTH={}", tiles.items, tiles.rows, tiles.columns, tiles.depth);
  if (problem.rows % tiles.rows != 0 || problem.columns % tiles.columns != 0) options += " -DGUARD";
  if (architecture > 0)
    options += fmt::format(" -DMATRIX_UNITS={} -DWARP_COLUMNS={}", architecture, tiles.warp_columns);
  return options;
}

std::uint64_t gpu_scratch_bytes(const Problem& problem) {
  std::uint64_t most = 0;
  for (const int architecture : {0, unit_architectures.front()}) {
    const Padded padded(problem, gpu_tiles(problem.element, architecture));
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
