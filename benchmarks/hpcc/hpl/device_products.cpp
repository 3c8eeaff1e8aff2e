#include "benchmarks/hpcc/hpl/device_products.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/hpcc/gemm/gpu.hpp"
#include "benchmarks/hpcc/gemm/hopper.hpp"
#include "benchmarks/hpcc/hpl/cpu_product.hpp"
#include "core/embedded.hpp"

namespace plumb::hpl {

namespace {

constexpr std::size_t side = 128;  // of an inverted diagonal block: larger ones lose more digits

std::size_t whole_units(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::uint32_t uint_of(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

bool is_of_nvidia(const DeviceInfo& device) {
  return device.runtime == "cuda" || device.vendor.find("NVIDIA") != std::string::npos;
}

// gemm's kernel for Hopper (hopper.cu), if the device and the type have one. Not float: its persistent groups leave
// whole multiprocessors to the panel, and LU is 4 % slower than with gpu.cl, whose groups share them (H100, n =
// 46,080).
class HopperProduct {
 public:
  // Throws Error, or Unsupported, if there is none.
  HopperProduct(Device& device, const gemm::Element& element) : element_(element) {
    if (device.info().runtime != "cuda" || element.name == "float") throw Unsupported("no Hopper");
    multiprocessors_ = device.info().compute_units;
    const std::size_t large = 1 << 15;
    tiles_ = gemm::hopper_tiles({element, large, large, large, -1, 1}, device.info().compute_units);
    for (const bool aligned : {true, false}) {
      Compiled& compiled = compiled_[aligned ? 1 : 0];
      const gemm::Problem problem{element, large, aligned ? large : large + 1, large, -1, 1};
      compiled.program = device.build({.name = "hopper.cu",
                                       .opencl = embedded_text("benchmarks/hpcc/gemm/hopper.cu"),
                                       .options = gemm::hopper_options(problem, tiles_) + " -DPARTS",
                                       .is_cuda = true});
      compiled.kernel = compiled.program->kernel("gemm");
    }
  }

  // Whether the copy engine supports the rows' alignment.
  bool fits(const MatrixPart& part) const {
    const std::size_t size = size_of(element_.stored);
    return part.offset * size % 16 == 0 && part.pitch * size % 16 == 0;
  }

  // C -= A B, if both fit; otherwise does nothing and returns false. Leaves `spared` multiprocessors idle.
  bool enqueue(Queue& queue, std::size_t rows, std::size_t columns, std::size_t inner, const MatrixPart& a,
               const MatrixPart& b, const MatrixPart& c, std::size_t spared = 0) {
    const std::size_t size = size_of(element_.stored);
    if (!fits(a) || !fits(b)) return false;
    const std::size_t result = size_of(element_.computed), together = gemm::hopper_together(element_);
    const bool aligned = c.offset * result % 16 == 0 && c.pitch * result % 16 == 0 && columns % together == 0;
    Kernel& kernel = *compiled_[aligned ? 1 : 0].kernel;
    const auto tiled = [&](const MatrixPart& part, std::size_t part_rows, std::size_t part_columns,
                           std::size_t tile_rows) {
      const std::size_t begin = part.offset * size;
      return TiledMatrix{.view = {part.buffer, begin, part.buffer->size() - begin},
                         .columns = part_columns,
                         .rows = part_rows,
                         .row_bytes = part.pitch * size,
                         .element_bytes = size,
                         .to_tf32 = element_.short_factors,
                         .tile_rows = tile_rows};
    };
    const auto number = [&](double value) {
      return result == 8 ? KernelArgument(value) : KernelArgument(static_cast<float>(value));
    };
    kernel.set({tiled(a, rows, inner, tiles_.a_copy_rows), tiled(b, inner, columns, tiles_.b_copy_rows), c.buffer,
                c.buffer, number(-1), number(1), uint_of(rows), uint_of(columns), uint_of(inner),
                std::uint64_t{c.pitch}, std::uint64_t{c.offset}});
    const std::size_t count =
        whole_units(rows, tiles_.rows) / tiles_.rows * (whole_units(columns, tiles_.columns) / tiles_.columns);
    const std::size_t at_once = std::max((multiprocessors_ - std::min(spared, multiprocessors_)) / tiles_.groups, one);
    const std::size_t groups = std::min(count, at_once) * tiles_.groups;
    queue.enqueue(kernel, {groups * group_items, group_items, tiles_.local_bytes});
    return true;
  }
  const gemm::HopperTiles& tiles() const { return tiles_; }

 private:
  static constexpr std::size_t group_items = 384, one = 1;
  struct Compiled {
    std::unique_ptr<Program> program;
    std::unique_ptr<Kernel> kernel;
  };
  gemm::Element element_;
  std::size_t multiprocessors_ = 1;
  gemm::HopperTiles tiles_;
  Compiled compiled_[2];  // for any C, and for an aligned one
};

// Null if the GPU, or its compiler, is older.
std::unique_ptr<HopperProduct> hopper_of(Device& device, const gemm::Element& element) {
  try {
    return std::make_unique<HopperProduct>(device, element);
  } catch (const Error&) {
    return nullptr;
  }
}

// gemm's kernels for GPUs (gpu.cl), with padding for blocks that are no multiples of tiles, or those for CPUs.
class OwnProducts final : public DeviceProducts {
 public:
  OwnProducts(Device& device, Kernels& kernels, const Layout& layout, const gemm::Element& element)
      : device_(device), kernels_(kernels), element_(element) {
    if (device.info().type == "cpu" && !element.short_factors) {
      cpu_ = std::make_unique<CpuProduct>(device, layout, element);
      tiles_.depth = 1;  // they need no padding
      inverse_ = device.allocate(layout.block * layout.block * size_of(element.stored), {});
      return;
    }
    architecture_ = best_architecture(gemm::has_matrix_units(element_) && is_of_nvidia(device.info()));
    tiles_ = gemm::gpu_tiles(element_, architecture_);
    hopper_ = hopper_of(device, element_);
    for (const bool guarded : {false, true}) compiled(guarded);
    const std::size_t inner = whole_units(layout.block, tiles_.depth);
    const TileRoom room;
    inverse_ = device.allocate((inner + room.rows) * inner * size_of(element.stored), {});
    // Whether a block, or the last one, is not a multiple of tiles' strips.
    if (layout.block % tiles_.depth != 0 || layout.n % layout.block % tiles_.depth != 0)
      padded_ = device.allocate((layout.rows.count() + room.rows) * inner * size_of(element.stored), {});
  }

  void take_panel(Queue& queue, std::size_t width, const MatrixPart& block, std::size_t rows,
                  const MatrixPart& lower) override {
    invert(queue, width, block);
    rows_ = rows;
    inner_ = width;
    lower_ = lower;
    const std::size_t padded = cpu_ ? width : whole_units(width, tiles_.depth);
    if (padded == width || rows == 0 || (hopper_ && hopper_->fits(lower))) return;
    kernels_.start(
        queue, "pad_rows",
        {lower.buffer, std::uint64_t{lower.offset}, std::uint64_t{width}, padded_.get(), std::uint64_t{padded}}, rows);
    lower_ = {padded_.get(), 0, padded};
  }

  // Per block of `side` rows, U = B - (I - L^-1) B; its product with L is subtracted from the rows below.
  void solve(Queue& queue, std::size_t rows, std::size_t columns, const MatrixPart& copy,
             const MatrixPart& upper) override {
    const auto row = [](const MatrixPart& part, std::size_t at) {
      return MatrixPart{part.buffer, part.offset + at * part.pitch, part.pitch};
    };
    for (std::size_t at = 0; at < rows; at += side_) {
      const std::size_t width = std::min(side_, rows - at), end = at + width;
      const std::size_t pitch = whole_units(side_, tiles_.depth);
      if (at > 0) kernels_.copy_block(queue, row(upper, at), row(copy, at), width, columns);
      multiply(queue, width, columns, whole_units(width, tiles_.depth), width, {inverse_.get(), at * side_, pitch},
               row(copy, at), row(upper, at));
      if (end < rows)
        multiply(queue, rows - end, columns, width, width,
                 {block_.buffer, block_.offset + end * block_.pitch + at, block_.pitch}, row(upper, at),
                 row(upper, end));
    }
  }

  void subtract(Queue& queue, std::size_t columns, const MatrixPart& b, const MatrixPart& c,
                std::size_t spared) override {
    if (hopper_ && hopper_->enqueue(queue, rows_, columns, inner_, lower_, b, c, spared)) return;
    multiply(queue, rows_, columns, lower_.pitch, inner_, lower_, b, c);
  }

  bool subtract_parts(Queue& queue, std::size_t rows, std::size_t columns, std::size_t inner, const MatrixPart& a,
                      const MatrixPart& b, const MatrixPart& c) override {
    if (cpu_) return false;  // its packed operands are those of one queue
    multiply(queue, rows, columns, inner, inner, a, b, c);
    return true;
  }

  Json facts() const override {
    if (cpu_)
      return {{"variant", "nd_range"},
              {"library", nullptr},
              {"kernel", "cpu"},
              {"tile", fmt::format("{}x{}x{}", cpu_->tiles().rows, cpu_->tiles().columns, cpu_->tiles().depth)}};
    if (hopper_)
      return {
          {"variant", "nd_range"},
          {"library", nullptr},
          {"kernel", "hopper"},
          {"tile", fmt::format("{}x{}x{}", hopper_->tiles().rows, hopper_->tiles().columns, hopper_->tiles().depth)}};
    return {{"variant", "nd_range"},
            {"library", nullptr},
            {"kernel", "gpu"},
            {"tile", fmt::format("{}x{}x{}", tiles_.rows, tiles_.columns, tiles_.depth)},
            {"matrix_units", architecture_ > 0 ? fmt::format("PTX sm_{}", architecture_) : "none"}};
  }

 private:
  struct Compiled {
    std::unique_ptr<Program> program;
    std::unique_ptr<Kernel> kernel;
  };

  void invert(Queue& queue, std::size_t rows, const MatrixPart& l) {
    block_ = l;
    side_ =
        rows % tiles_.depth == 0 ? std::min(rows, side) : rows;  // otherwise its rows start off the tiles' alignment
    const std::size_t pitch = whole_units(side_, tiles_.depth);
    kernels_.start(queue, "invert",
                   {l.buffer, std::uint64_t{l.offset}, std::uint64_t{l.pitch}, uint_of(rows), uint_of(side_),
                    inverse_.get(), std::uint64_t{pitch}},
                   (rows + side_ - 1) / side_ * kernels_.groups_of(pitch));
  }

  // B's rows after the `real` ones become zero, as A's columns are.
  void multiply(Queue& queue, std::size_t rows, std::size_t columns, std::size_t inner, std::size_t real,
                const MatrixPart& a, const MatrixPart& b, const MatrixPart& c) {
    if (cpu_) return cpu_->enqueue(queue, rows, columns, inner, a, b, c);
    if (hopper_ && hopper_->enqueue(queue, rows, columns, real, a, b, c)) return;
    if (inner > real)
      kernels_.start(queue, "zero_rows",
                     {b.buffer, std::uint64_t{b.offset + real * b.pitch}, std::uint64_t{(inner - real) * b.pitch}},
                     kernels_.groups_of_loop((inner - real) * b.pitch));
    const std::size_t together = 16 / size_of(element_.stored);
    const bool fits =
        rows % tiles_.rows == 0 && columns % tiles_.columns == 0 && c.offset % together == 0 && c.pitch % together == 0;
    Kernel& kernel = compiled(!fits);
    const bool in_double = element_.computed == ScalarType::f64;
    const auto number = [&](double value) {
      return in_double ? KernelArgument(value) : KernelArgument(static_cast<float>(value));
    };
    kernel.set({a.buffer, b.buffer, c.buffer, c.buffer, number(-1), number(1), uint_of(rows), uint_of(columns),
                uint_of(inner), uint_of(b.pitch), std::uint64_t{a.pitch}, std::uint64_t{c.pitch},
                std::uint64_t{a.offset}, std::uint64_t{b.offset}, std::uint64_t{c.offset}});
    const std::size_t groups =
        whole_units(rows, tiles_.rows) / tiles_.rows * (whole_units(columns, tiles_.columns) / tiles_.columns);
    queue.enqueue(kernel, {groups * tiles_.items, tiles_.items});
  }

  Kernel& compiled(bool guarded) {
    Compiled& found = compiled_[guarded ? 1 : 0];
    if (!found.kernel) {
      found.program = build(architecture_, guarded);
      found.kernel = found.program->kernel("gemm");
    }
    return *found.kernel;
  }

  std::unique_ptr<Program> build(int architecture, bool guarded) const {
    const gemm::GpuTiles tiles = gemm::gpu_tiles(element_, architecture);
    const std::size_t more = guarded ? 1 : 0;
    const gemm::Problem problem{element_, tiles.rows + more, tiles.columns, tiles.depth, -1, 1};
    return device_.build({.name = "gpu.cl",
                          .opencl = embedded_text("benchmarks/hpcc/gemm/gpu.cl"),
                          .options = gemm::gpu_options(problem, architecture) + " -DPARTS"});
  }

  // Newest instructions first; a driver without them rejects them at compilation.
  int best_architecture(bool matrix_units) {
    if (matrix_units)
      for (const int architecture : gemm::unit_architectures) try {
          build(architecture, true);
          return architecture;
        } catch (const Error&) {
          continue;
        }
    return 0;
  }

  Device& device_;
  Kernels& kernels_;
  gemm::Element element_;
  gemm::GpuTiles tiles_;
  int architecture_ = 0;
  std::unique_ptr<HopperProduct> hopper_;
  std::unique_ptr<CpuProduct> cpu_;
  MatrixPart block_, lower_;  // of the diagonal; the rows of L below it, or padded ones
  std::size_t rows_ = 0, inner_ = 0;
  std::size_t side_ = 1;  // of the diagonal's inverted blocks
  Compiled compiled_[2];  // for whole tiles, and for others
  std::unique_ptr<Buffer> inverse_, padded_;
};

// Float matrices whose updates multiply factors rounded to half: on Hopper's units, elsewhere in float arithmetic.
class HalfProducts final : public DeviceProducts {
 public:
  HalfProducts(Device& device, Kernels& kernels, const Layout& layout)
      : kernels_(kernels),
        hopper_(hopper_of(device, gemm::element_of("half"))),
        own_(device, kernels, layout, gemm::element_of(hopper_ ? "tf32" : "float")) {
    if (!hopper_) return;
    const TileRoom room;
    a_pitch_ = whole_units(layout.block, 8);
    b_pitch_ = whole_units(layout.columns.count(), room.columns);
    a_ = device.allocate(layout.rows.count() * a_pitch_ * sizeof(std::uint16_t), {});
    b_ = device.allocate(layout.block * b_pitch_ * sizeof(std::uint16_t), {});
  }
  void take_panel(Queue& queue, std::size_t width, const MatrixPart& block, std::size_t rows,
                  const MatrixPart& lower) override {
    rows_ = rows;
    inner_ = width;
    if (hopper_)
      shorten(queue, lower, rows, width, width, *a_, a_pitch_);
    else
      round(queue, lower, rows, width, width);
    own_.take_panel(queue, width, block, rows, lower);
  }
  void solve(Queue& queue, std::size_t rows, std::size_t columns, const MatrixPart& copy,
             const MatrixPart& upper) override {
    own_.solve(queue, rows, columns, copy, upper);
  }
  void subtract(Queue& queue, std::size_t columns, const MatrixPart& b, const MatrixPart& c,
                std::size_t spared) override {
    if (!hopper_) {
      round(queue, b, inner_, columns, b.pitch);
      return own_.subtract(queue, columns, b, c, spared);
    }
    shorten(queue, b, inner_, columns, b.pitch, *b_, b_pitch_);
    hopper_->enqueue(queue, rows_, columns, inner_, {a_.get(), 0, a_pitch_}, {b_.get(), 0, b_pitch_}, c, spared);
  }
  bool subtract_parts(Queue& queue, std::size_t rows, std::size_t columns, std::size_t inner, const MatrixPart& a,
                      const MatrixPart& b, const MatrixPart& c) override {
    return own_.subtract_parts(queue, rows, columns, inner, a, b, c);
  }
  Json facts() const override {
    Json facts = own_.facts();
    if (hopper_)
      facts["tile"] = fmt::format("{}x{}x{}", hopper_->tiles().rows, hopper_->tiles().columns, hopper_->tiles().depth);
    return facts;
  }

 private:
  void round(Queue& queue, const MatrixPart& part, std::size_t rows, std::size_t columns, std::size_t pitch) {
    kernels_.start(queue, "round_rows",
                   {part.buffer, std::uint64_t{part.offset}, std::uint64_t{pitch}, std::uint64_t{columns}}, rows);
  }
  void shorten(Queue& queue, const MatrixPart& part, std::size_t rows, std::size_t columns, std::size_t pitch,
               Buffer& to, std::size_t to_pitch) {
    kernels_.start(queue, "shorten_rows",
                   {part.buffer, std::uint64_t{part.offset}, std::uint64_t{pitch}, std::uint64_t{columns}, &to,
                    std::uint64_t{to_pitch}},
                   rows);
  }

  Kernels& kernels_;
  std::unique_ptr<HopperProduct> hopper_;
  OwnProducts own_;
  std::size_t rows_ = 0, inner_ = 0, a_pitch_ = 0, b_pitch_ = 0;
  std::unique_ptr<Buffer> a_, b_;
};

class LibraryProducts final : public DeviceProducts {
 public:
  LibraryProducts(Device& device, Queue& queue, ScalarType type) : library_(make_factor_library(device, queue, type)) {}
  void take_panel(Queue&, std::size_t width, const MatrixPart& block, std::size_t rows,
                  const MatrixPart& lower) override {
    block_ = block;
    lower_ = lower;
    rows_ = rows;
    inner_ = width;
  }
  void solve(Queue& queue, std::size_t rows, std::size_t columns, const MatrixPart&, const MatrixPart& upper) override {
    const MatrixPart block = block_;
    queue.enqueue_call([=, this](Queue& own) { library_->solve_unit_lower(own, rows, columns, block, upper); });
  }
  void subtract(Queue& queue, std::size_t columns, const MatrixPart& b, const MatrixPart& c, std::size_t) override {
    subtract_parts(queue, rows_, columns, inner_, lower_, b, c);
  }
  bool subtract_parts(Queue& queue, std::size_t rows, std::size_t columns, std::size_t inner, const MatrixPart& a,
                      const MatrixPart& b, const MatrixPart& c) override {
    queue.enqueue_call([=, this](Queue& own) { library_->subtract_product(own, rows, columns, inner, a, b, c); });
    return true;
  }
  Json facts() const override { return {{"variant", "library"}, {"library", library_->name()}}; }

 private:
  std::unique_ptr<FactorLibrary> library_;
  MatrixPart block_, lower_;
  std::size_t rows_ = 0, inner_ = 0;
};

}  // namespace

std::unique_ptr<DeviceProducts> make_device_products(Device& device, Kernels& kernels, const Layout& layout,
                                                     ScalarType type, Factors factors) {
  if (factors == Factors::half) return std::make_unique<HalfProducts>(device, kernels, layout);
  const std::string element = factors == Factors::tf32 ? "tf32" : to_string(type);
  return std::make_unique<OwnProducts>(device, kernels, layout, gemm::element_of(element));
}

std::unique_ptr<DeviceProducts> make_library_products(Device& device, Queue& queue, ScalarType type) {
  return std::make_unique<LibraryProducts>(device, queue, type);
}

}  // namespace plumb::hpl
