#include "benchmarks/hpcc/hpl/hpl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "benchmarks/hpcc/hpl/witness.hpp"
#include "core/units.hpp"
#include "device/opencl_c.hpp"

namespace plumb::hpl {

namespace {

constexpr std::size_t rows_at_a_time = 64;  // made, or read, on the host
constexpr double slowest_flops = 1e8;       // of a rank, per second: limits the time of a repetition

// Limit of |A x - b|_i, in eps (|A| |x| + |b|)_i sqrt(n); README.md has measured values of correct runs.
constexpr double row_tolerance = 4;

// Likewise of |P A - L U|, in eps |L| |U| sqrt(n), of one element of each tile.
constexpr double tile_tolerance = 1;
// L's elements are quotients by the largest of a column: at most 1, but for a reciprocal's and a product's rounding.
constexpr double factor_tolerance = 16;

std::uint64_t matrix_seed(std::uint64_t seed, std::uint64_t repetition) {
  return 99 + seed + (repetition - 1);  // HPL's own seed (100) at first
}

// "3.1e+07, 210, 0.02"
std::string text_of(const std::vector<RefineStep>& steps) {
  std::string text;
  for (const RefineStep& step : steps) text += fmt::format("{}{:.3g}", text.empty() ? "" : ", ", step.scaled);
  return text.empty() ? "none" : text;
}

double slowest(const CaseResult& result, const std::string& phase) {
  const auto found = result.phases_by_rank.find(phase);
  return found == result.phases_by_rank.end() ? std::numeric_limits<double>::quiet_NaN()
                                              : reduced(found->second, RankRule::slowest);
}

}  // namespace

double lu_flops(double n) {
  return 2 * n * n * n / 3 - n * n / 2;
}
double solve_flops(double n) {
  return 2 * n * n;
}
double hpl_flops(double n) {
  return lu_flops(n) + solve_flops(n);
}

// In HLS C++ alone.
std::optional<BoardKernels> Hpl::board_kernels(BoardTool tool) const {
  if (tool != BoardTool::vpp) return std::nullopt;
  return pipeline_kernels();
}

Preset Hpl::preset(const std::string& name) const {
  if (name == "smoke") return {{"size", "1000"}, {"block", "64"}};
  if (name == "full") return {{"size", "16384"}};
  return {};
}

std::pair<int, int> Hpl::grid(int ranks) const {
  const std::string& text = grid_.get();
  if (text == "default") {
    const auto [rows, columns] = grids(ranks).front();
    return {std::min(rows, columns), std::max(rows, columns)};
  }
  int rows = 0, columns = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, rows);
  const bool is_split = first.ec == std::errc{} && first.ptr != end && *first.ptr == 'x';
  const auto second = std::from_chars(is_split ? first.ptr + 1 : end, end, columns);
  if (!is_split || second.ec != std::errc{} || second.ptr != end || rows < 1 || columns < 1)
    throw UsageError(fmt::format("--grid must be rows x columns of ranks, such as 2x3, not \"{}\"", text));
  if (rows * columns != ranks)
    throw UsageError(fmt::format("--grid {} needs {} ranks, but there are {}: grids of so many are {}", text,
                                 static_cast<std::int64_t>(rows) * columns, ranks, grid_text(ranks)));
  return {rows, columns};
}

Layout Hpl::layout_of(const Plan& plan) const {
  const auto [rows, columns] = grid(plan.ranks);
  return make_layout(static_cast<std::size_t>(size_), static_cast<std::size_t>(block_), rows, columns, plan.rank);
}

Factors Hpl::factors() const {
  return refine_ == "half" ? Factors::half : refine_ == "tf32" ? Factors::tf32 : Factors::own;
}

void Hpl::check(const Plan& plan) const {
  if (refines() && type() != ScalarType::f64)
    throw UsageError(
        fmt::format("--refine {} refines to double: --type must be double, not {}", refine_.get(), type_.get()));
  if (refines() && refine_ != "float" && variant_ == "library")
    throw UsageError(fmt::format("--refine {} has products of its own: --variant must not be library", refine_.get()));
  const auto [rows, columns] = grid(plan.ranks);
  const std::size_t needed = static_cast<std::size_t>(std::max(rows, columns)), there = layout_of(plan).blocks();
  if (there < needed)
    throw UsageError(fmt::format(
        "--size {} in blocks of {} makes {} block row{}, but a grid of {} x {} needs {}, one for each rank: "
        "give a larger --size or a smaller --block",
        size_.get(), block_.get(), there, there == 1 ? "" : "s", rows, columns, needed));
}

void Hpl::check_device(const Plan&, const DeviceInfo& device) const {
  if (kernel_ != "default" && !has_opencl_driver(device) && !(kernel_ == "gpu" && device.runtime == "cuda"))
    throw UsageError(fmt::format("--kernel {} is for OpenCL devices{}, not runtime {}", kernel_.get(),
                                 kernel_ == "gpu" ? " and runtime cuda" : "", device.runtime));
}

bool Hpl::alone(const DeviceInfo& device) const {
  return has_opencl_driver(device) && (kernel_ == "cpu" || (kernel_ == "default" && device.type == "cpu"));
}

std::vector<Group> Hpl::groups(const Plan& plan) const {
  const Layout layout = layout_of(plan);
  const auto n = static_cast<double>(size_.get());
  const std::size_t element = size_of(factor_type());
  Case one;
  one.key = fmt::format("{}/{}/{}", matrix_.get(), type_label(), size_.get());
  one.labels = {{"matrix", matrix_.get()},
                {"type", type_label()},
                {"n", size_.get()},
                {"block", block_.get()},
                {"grid", fmt::format("{}x{}", layout.rows.parts, layout.columns.parts)}};
  one.work.flops = hpl_flops(n) / plan.ranks;
  one.items_to_check = layout.rows.count() + own_tiles(layout);
  one.fixed_count = 1;
  one.policy = {CasePolicy::Kind::fixed, 3, 0, 60 + one.work.flops / slowest_flops};
  one.phases = phase_names;
  if (!refines()) one.phases.pop_back();

  Group group{"hpl", {one}};
  const std::uint64_t matrix = layout.rows.count() * row_pitch(layout, element) * element;
  group.largest_buffer_bytes = matrix;
  group.device_bytes = matrix + scratch_bytes(layout, element);
  group.host_bytes =
      8 * (3 * layout.rows.count() + rows_at_a_time * layout.columns.count() + 2 * layout.blocks() * layout.n);
  group.exchange_bytes = 2 * panel_places(layout.block, layout.block, layout.rows.count(), element).bytes;
  return {group};
}

std::unique_ptr<Matrix> Hpl::make_matrix(Session& session, std::uint64_t repetition) {
  return std::make_unique<Matrix>(kind(), type(), matrix_seed(session.seed, repetition), layout_, *teams_.row);
}

std::unique_ptr<Solver> Hpl::make_solver(Session& session, const SolverWish& wish) {
  return std::make_unique<Solver>(session, layout_, *form_, teams_, wish);
}

void Hpl::prepare(Session& session, const Case&) {
  layout_ = layout_of({session.world.rank(), session.world.size(), session.seed});
  const DeviceInfo& device = session.device.info();
  hpcc::require_type(device, type());
  const hpcc::Variant variant = variant_.on(device);
  const bool in_pipeline = variant == hpcc::Variant::single_work_item;
  if (in_pipeline && kind() == Kind::general)
    throw Unsupported(
        fmt::format("hpl's form {} has no pivots: use --matrix dominant, or --variant nd_range", to_string(variant)));
  FormWish wish{factor_type(), factors(), variant == hpcc::Variant::library, alone(device), 1};
  // Of a panel of all this grid's rows, so that all ranks send pieces of one size.
  const Layout tallest = make_layout(layout_.n, layout_.block, static_cast<int>(layout_.rows.parts),
                                     static_cast<int>(layout_.columns.parts), 0);
  wish.panel_piece = PanelBroadcast::piece_of(
      panel_places(layout_.block, layout_.block, tallest.rows.count(), size_of(factor_type())).bytes);
  teams_ = make_teams(session.world, layout_);
  if (device.runtime == "native" && !session.kernel_file.empty())
    throw Unsupported("runtime native compiles no kernels: --kernel-file requires opencl or cuda");
  form_ = in_pipeline                  ? make_pipeline(session, layout_, wish)
          : device.runtime == "native" ? make_native(session, layout_, wish)
                                       : make_on_device(session, layout_, wish, *teams_.column);
  SolverWish solver;
  solver.pivoting = kind() == Kind::general;
  solver.depth = static_cast<std::size_t>(depth_);
  solver.way = broadcast_ == "tree" ? Way::tree : broadcast_ == "torus" ? Way::torus : Way::ring;
  solver.piece = wish.panel_piece;
  solver_ = make_solver(session, solver);
  found_ = Json::object();
}

void Hpl::write_matrix(const Matrix& matrix) {
  if (form_->generate(matrix)) return;
  const std::size_t columns = layout_.columns.count();
  std::vector<double> values(rows_at_a_time * columns);
  for (std::size_t first = 0; first < layout_.rows.count(); first += rows_at_a_time) {
    const std::size_t rows = std::min(rows_at_a_time, layout_.rows.count() - first);
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < rows; ++i) matrix.row(first + i, std::span(values).subspan(i * columns, columns));
    form_->write_rows(first, std::span(values).first(rows * columns));
  }
}

void Hpl::reset(Session& session, const Case&, std::uint64_t repetition, std::uint64_t) {
  std::unique_ptr<Matrix> matrix = make_matrix(session, repetition);
  write_matrix(*matrix);
  form_->poison();
  b_.resize(layout_.rows.count());
  for (std::size_t i = 0; i < b_.size(); ++i) b_[i] = matrix->right_hand_side(i);
  solver_->reset(b_);
  refined_ = {};
  if (refines()) refined_for_ = std::move(matrix);
}

void Hpl::run(Session&, const Case&, Timed& timed) {
  solver_->factorise(timed);
  solver_->solve_both(timed);
  if (!refines() || solver_->is_broken()) return;
  const auto phase = timed.phase(refinement);
  refined_ = refine(*refined_for_, layout_, *form_, *solver_, teams_, most_corrections());
}

Validation Hpl::validate(Session& session, const Case&, std::uint64_t repetition, std::uint64_t) {
  Validation validation;
  validation.tolerance = hpl_threshold;
  validation.reference = "the matrix made again: A x - b, and L U in an element of each tile";
  const std::unique_ptr<Matrix> matrix = make_matrix_again(session, repetition);
  const std::vector<double>& solution = refines() && !solver_->is_broken() ? refined_.x : solver_->x();
  const Residual found = residual(*matrix, layout_, type(), solution, teams_, form_.get());
  const Witnesses tiles = solver_->is_broken()
                              ? Witnesses{}
                              : check_tiles(*matrix, layout_, unit_of(factors(), factor_type()), *form_, *solver_,
                                            teams_, session.seed + repetition, tile_tolerance);
  validation.items_checked = found.rows + tiles.checked;
  validation.error = found.scaled;
  // The ranks of a column of the grid have one x: this rank's must equal the first's bit for bit.
  std::vector<double> x = solution;
  teams_.column->broadcast(std::as_writable_bytes(std::span(x)), 0);
  const bool differs = std::memcmp(x.data(), solution.data(), x.size() * sizeof(double)) != 0;
  const double rounded_one = 1 + factor_tolerance * unit_of(Factors::own, factor_type());
  const bool pivots = kind() == Kind::general && !solver_->is_broken();
  const double factor = pivots ? largest_factor(layout_, *form_, teams_, tiles) : 0;
  const bool are_largest = factor <= rounded_one;
  validation.wrong_items = (found.largest_row <= row_tolerance && !differs && are_largest ? 0 : 1) + tiles.wrong;
  found_["scaled_residual"] = finite_or_null(found.scaled);
  found_["largest_row_residual"] = finite_or_null(found.largest_row);
  found_["largest_tile_error"] = finite_or_null(tiles.largest);
  found_["largest_factor"] = pivots ? finite_or_null(factor) : Json(nullptr);
  found_["normalised_error"] = kind() == Kind::dominant ? finite_or_null(found.normalised_error) : Json(nullptr);
  if (solver_->corrupt() >= 0) {
    validation.error = std::numeric_limits<double>::quiet_NaN();
    validation.detail = fmt::format("panel {} came with pivots outside the rows below it", solver_->corrupt());
  } else if (solver_->singular() >= 0) {
    validation.error = std::numeric_limits<double>::quiet_NaN();
    validation.detail = fmt::format("the matrix is singular: column {} has no pivot", solver_->singular());
  } else if (differs) {
    validation.detail = "x differs from that of the first rank of its grid column";
  } else if (refines() && !refined_.converged()) {
    validation.error = std::numeric_limits<double>::infinity();
    validation.detail = fmt::format("refinement did not converge: scaled residuals {}", text_of(refined_.steps));
  } else if (tiles.wrong > 0) {
    validation.detail = fmt::format("{} of {} tiles are wrong: {}", tiles.wrong, tiles.checked, tiles.detail);
  } else if (!are_largest) {
    validation.detail = fmt::format("a pivot is not the largest of its column: L has an element of {:.9g}", factor);
  } else if (!(found.scaled <= hpl_threshold) || validation.wrong_items > 0) {
    validation.detail = fmt::format("scaled residual {:.3g} (at most {}), of row {} {:.3g} (at most {})", found.scaled,
                                    hpl_threshold, found.worst_row, found.largest_row, row_tolerance);
  }
  return validation;
}

Json Hpl::facts() const {
  Json facts = form_->facts();
  facts["broadcast"] = broadcast_.get();
  facts["depth"] = depth_.get();
  facts.update(found_);
  if (!refines()) return facts;
  facts["factors"] = refine_.get();
  facts["refinement"] = Json::array();
  for (const RefineStep& step : refined_.steps)
    facts["refinement"].push_back(
        {{"scaled_residual", finite_or_null(step.scaled)}, {"largest_row_residual", finite_or_null(step.largest_row)}});
  return facts;
}

void Hpl::release() {
  solver_.reset();  // releases exchanges before their buffers
  form_.reset();
  teams_ = {};
}

std::vector<Metric> Hpl::metrics(const CaseResult& result, int) const {
  const auto n = static_cast<double>(size_.get());
  const double lu = slowest(result, phase_names[factorisation]), solved = slowest(result, phase_names[solve]);
  std::vector<Metric> metrics{
      {"performance", hpl_flops(n) / result.best_seconds() / giga, "GFLOP/s",
       "HPL's 2n^3/3 + 3n^2/2 over the time of both; all ranks, slowest, best repetition"},
      {"performance_median", hpl_flops(n) / result.median_seconds() / giga, "GFLOP/s", "the same, median repetition",
       "", false},
      {"performance_lu", lu_flops(n) / lu / giga, "GFLOP/s",
       "2n^3/3 - n^2/2 over the factorisation's time; all ranks, slowest by its median repetition"},
      {"performance_solve", solve_flops(n) / solved / giga, "GFLOP/s",
       "2n^2 over the time of the two triangular solves, likewise"},
      {"time_lu", lu, "s", "of the factorisation, slowest rank by its median repetition"},
      {"time_solve", solved, "s", "of the two triangular solves, likewise"}};
  if (refines())
    metrics.push_back({"time_refinement", slowest(result, phase_names[refinement]), "s",
                       "of the residuals in double and the solves for their corrections, likewise"});
  return metrics;
}

namespace {

const RegisteredBenchmark registered_hpl("hpl", [] { return std::make_unique<Hpl>(); });

}  // namespace

}  // namespace plumb::hpl
