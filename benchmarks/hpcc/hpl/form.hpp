// The computation of one rank on its part of the matrix, on its device. Rows and columns are local, given by a step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/hpcc/hpl/interchange.hpp"
#include "benchmarks/hpcc/hpl/layout.hpp"
#include "benchmarks/hpcc/hpl/matrix.hpp"
#include "core/scalar.hpp"
#include "measure/benchmark.hpp"
#include "world/team.hpp"

namespace plumb::hpl {

struct Columns {
  std::size_t begin = 0, end = 0;
  std::size_t count() const { return end - begin; }
};

// A panel's message, in one of two buffers: the pivots (global rows) and the first column without one (-1: none),
// 64-bit each; the diagonal block, L and U in one, by rows; the rows of L below it in this row of
// the grid, by rows. Without gaps except for two that align.
struct PanelPlaces {
  std::size_t diagonal = 0, lower = 0, bytes = 0;  // offsets, and the end
};
PanelPlaces panel_places(std::size_t block, std::size_t width, std::size_t rows_below, std::size_t element_bytes);

// Elements of one row, from the given column. Local.
struct Run {
  std::size_t row = 0, column = 0;
};

struct PanelHead {
  std::vector<std::int64_t> pivots;
  std::int64_t singular = -1;
};

class Form {
 public:
  virtual ~Form() = default;
  // Untimed: whole local rows from `first`, as doubles exact in the type.
  virtual void write_rows(std::size_t first, std::span<const double> values) = 0;
  virtual void read_rows(std::size_t first, std::span<double> values) = 0;
  // Consecutive runs of `width` elements.
  virtual void read_runs(std::span<const Run> runs, std::size_t width, std::span<double> values) = 0;
  // Makes the matrix on the device, or the sums of its rows; does nothing if the device cannot.
  virtual bool generate(const Matrix&) { return false; }
  virtual std::optional<RowSums> row_sums(const Matrix&, std::span<const double>) { return std::nullopt; }
  // The largest magnitude of the first lengths[i] elements of each row i, infinite for NaN; likewise.
  virtual std::optional<double> largest_of_rows(std::span<const std::uint64_t>) { return std::nullopt; }
  // Untimed: fills all memory except the matrix with bytes that make NaN.
  virtual void poison() = 0;

  virtual const std::vector<BufferView>& panel_buffers() const = 0;
  virtual std::size_t element_bytes() const = 0;

  // Starts the LU of a block column, from its diagonal block down, into a panel buffer and, with L and U, back into the
  // matrix. Collective over `column`, the ranks of this column of the grid; on those of the block's column.
  virtual void factor(const Step& step, bool pivoting, Team& column, std::size_t panel) = 0;
  virtual PanelHead head(const Step& step, std::size_t panel) = 0;
  // Exchanges rows, in the given columns: afterwards the block's rows are on every rank of the column of the grid,
  // apart from the matrix, and the others in place. Collective over `column`.
  virtual void exchange_rows(const Step& step, const Interchange& moves, Columns columns, Team& column) = 0;
  // Solves for U in the given columns, and subtracts L U from the rows below.
  virtual void update(const Step& step, std::size_t panel, Columns columns) = 0;
  // Waits for exchanges of rows and updates.
  virtual void finish() = 0;
  // Without waiting: whether factor() is complete on this rank, and whether exchanges and updates are.
  virtual bool has_panel() { return true; }
  virtual bool has_finished() { return true; }
  // Goes on with a panel that needs the host, if there is one: whether there was. Collective over the ranks of
  // factor().
  virtual bool continue_panel() { return false; }
  // Without waiting: starts more of an update that is not started as a whole, if its turn has come.
  virtual void continue_update() {}

  // On the owner of a diagonal block: y = L^-1 y, x = U^-1 x. On the ranks of its column of the grid: subtracts L y
  // from the rows below it, U x from the rows above it.
  virtual void solve_lower(const Step& step, std::span<double> y) = 0;
  virtual void solve_upper(const Step& step, std::span<double> x) = 0;
  virtual void subtract_lower(const Step& step, std::span<const double> y, std::span<double> rows_below) = 0;
  virtual void subtract_upper(const Step& step, std::span<const double> x, std::span<double> rows_above) = 0;

  virtual Json facts() const = 0;
};

// Type to which the factors of an update's products are rounded, for a refined solution; sums are of the form's type.
enum class Factors { own, tf32, half };
double unit_of(Factors factors, ScalarType type);  // half of the last digit, relative

struct FormWish {
  ScalarType type = ScalarType::f64;
  Factors factors = Factors::own;
  bool library = false;
  bool alone = false;           // one work item eliminates a panel's narrow columns
  std::size_t panel_piece = 1;  // a panel buffer's size is a multiple of it
};

// Those of make_pipeline() for boards of v++.
BoardKernels pipeline_kernels();

// Throw Unsupported if the device, or its library, cannot. The second is for runtimes that compile kernels, and
// collective over `column`, the ranks of this column of the grid.
std::unique_ptr<Form> make_native(Session& session, const Layout& layout, const FormWish& wish);
std::unique_ptr<Form> make_pipeline(Session& session, const Layout& layout, const FormWish& wish);  // never pivots
std::unique_ptr<Form> make_on_device(Session& session, const Layout& layout, const FormWish& wish, Team& column);

// Bytes of memory in addition to the matrix, at most.
std::uint64_t scratch_bytes(const Layout& layout, std::size_t element_bytes);
std::size_t row_pitch(const Layout& layout, std::size_t element_bytes);  // elements

}  // namespace plumb::hpl
