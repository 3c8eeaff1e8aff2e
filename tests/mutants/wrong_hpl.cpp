// HPL with a part of the factorisation, of the solves or of the matrix wrong. Each is a separate benchmark,
// mutant-hpl-NAME, and must be `failed`.
#include <functional>
#include <numeric>

#include "benchmarks/hpcc/hpl/hpl.hpp"
#include "tests/mutants/mutants.hpp"
#include "transport/transport.hpp"

namespace plumb::mutants::of_hpl {  // its names are those of hpl, and others' too

namespace {

using hpl::Columns;
using hpl::Hpl;
using hpl::Interchange;
using hpl::Layout;
using hpl::Matrix;
using hpl::Solver;
using hpl::Step;

constexpr std::size_t spoiled = 2;  // the wrong step

bool is_last(const Layout& layout) {
  return layout.rows.own + 1 == layout.rows.parts && layout.columns.own + 1 == layout.columns.parts;
}

Interchange none(const Step& step) {
  Interchange moves;
  moves.top.resize(step.width);
  std::iota(moves.top.begin(), moves.top.end(), step.begin);
  return moves;
}

// A panel is not sent: its buffer holds the one before the last, or nothing.
struct StaleBroadcast : Solver {
  using Solver::Solver;
  void start_broadcast(const Step& step) override {
    if (step.index != spoiled) Solver::start_broadcast(step);
  }
};

// A panel is used before it arrives: its receivers take it after the first exchange of rows.
struct MissingWait : Solver {
  using Solver::Solver;
  static bool is_late(const Step& step) { return step.index == spoiled && !step.in_column; }
  void start_broadcast(const Step& step) override {
    if (!is_late(step)) Solver::start_broadcast(step);
  }
  void wait_broadcast(const Step& step) override {
    if (is_late(step))
      missing_ = true;
    else
      Solver::wait_broadcast(step);
  }
  void exchange_rows(const Step& step, Columns columns) override {
    Solver::exchange_rows(step, columns);
    if (!std::exchange(missing_, false)) return;
    Solver::start_broadcast(step);
    Solver::wait_broadcast(step);
  }

 private:
  bool missing_ = false;
};

// One rank omits an update.
struct UpdateSkipped : Solver {
  using Solver::Solver;
  void update_columns(const Step& step, Columns columns) override {
    if (step.index != spoiled || !is_last(layout())) Solver::update_columns(step, columns);
  }
};

// An update skips the last block column.
struct LastColumnLeft : Solver {
  using Solver::Solver;
  void update_columns(const Step& step, Columns columns) override {
    const std::size_t last = hpl::make_step(layout(), layout().blocks() - 1).column;
    if (step.index != spoiled || columns.end <= last || columns.begin >= last)
      return Solver::update_columns(step, columns);
    Solver::exchange_rows(step, {columns.begin, last});
    Solver::update_columns(step, {columns.begin, last});
  }
};

// One tile of one update is added instead of subtracted.
struct TileOfOtherSign : Solver {
  using Solver::Solver;
  void update_columns(const Step& step, Columns columns) override {
    if (step.index != spoiled || !is_last(layout())) return Solver::update_columns(step, columns);
    const std::size_t rows = layout().rows.count() - step.below, width = layout().columns.count();
    std::vector<double> before(rows * width), after(rows * width);
    form().read_rows(step.below, before);
    Solver::update_columns(step, columns);
    form().read_rows(step.below, after);
    for (std::size_t i = 0; i < std::min(rows, step.width); ++i)
      for (std::size_t j = columns.begin; j < std::min(columns.end, columns.begin + step.width); ++j)
        after[i * width + j] = 2 * before[i * width + j] - after[i * width + j];
    form().write_rows(step.below, after);
  }
};

// The left half of the rows is exchanged, and the right is not.
struct HalfOfTheRow : Solver {
  using Solver::Solver;
  void exchange_rows(const Step& step, Columns columns) override {
    if (step.index != spoiled) Solver::exchange_rows(step, columns);
  }
  void update_columns(const Step& step, Columns columns) override {
    if (step.index != spoiled) return Solver::update_columns(step, columns);
    const Columns left{columns.begin, columns.begin + columns.count() / 2}, right{left.end, columns.end};
    form().exchange_rows(step, moves(step.index), left, *teams().column);
    Solver::update_columns(step, left);
    form().exchange_rows(step, none(step), right, *teams().column);
    Solver::update_columns(step, right);
  }
};

// Rows that leave the block are not stored.
struct DisplacedLost : Solver {
  using Solver::Solver;
  void exchange_rows(const Step& step, Columns columns) override {
    Interchange without = moves(step.index);
    if (step.index == spoiled) without.displaced.clear();
    form().exchange_rows(step, without, columns, *teams().column);
  }
};

struct NoForward : Solver {
  using Solver::Solver;
  void forward() override {}
};

struct NoBackward : Solver {
  using Solver::Solver;
  void backward() override {
    auto& x = solution();
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i < right_side().size() ? right_side()[i] : 0;
  }
};

// The right-hand side's rows are not exchanged.
struct RightSideNotExchanged : Solver {
  using Solver::Solver;
  void exchange_right_side(const Step& step) override {
    if (step.index != spoiled) Solver::exchange_right_side(step);
  }
};

// One number of x is wrong in its ninth digit.
struct DigitOfX : Solver {
  using Solver::Solver;
  void backward() override {
    Solver::backward();
    if (is_last(layout())) solution().back() *= 1 + (form().element_bytes() == 4 ? 1e-3 : 1e-9);
  }
};

// Its rows do not follow the rule, so a device receives them.
struct RowByRow : Matrix {
  using Matrix::Matrix;
  std::optional<Rule> rule() const override { return std::nullopt; }
};

// One rank has the opposite sign in one entry.
struct WrongEntry : RowByRow {
  WrongEntry(hpl::Kind kind, ScalarType type, std::uint64_t seed, const Layout& layout, Team& team)
      : RowByRow(kind, type, seed, layout, team), wrong_(is_last(layout)) {}
  void row(std::size_t local_row, std::span<double> values) const override {
    Matrix::row(local_row, values);
    if (wrong_ && local_row == 5) values[3] = -values[3];
  }

 private:
  bool wrong_;
};

// The second block row repeats the first.
struct BlockRowRepeated : RowByRow {
  BlockRowRepeated(hpl::Kind kind, ScalarType type, std::uint64_t seed, const Layout& layout, Team& team)
      : RowByRow(kind, type, seed, layout, team), block_(layout.block) {}
  void row(std::size_t local_row, std::span<double> values) const override {
    Matrix::row(local_row / block_ == 1 ? local_row - block_ : local_row, values);
  }

 private:
  std::size_t block_;
};

// On a square grid: each rank has the blocks of the one across the diagonal.
struct Swapped : Matrix {
  Swapped(hpl::Kind kind, ScalarType type, std::uint64_t seed, const Layout& layout, Team& team)
      : Matrix(kind, type, seed, across(layout), team) {}
  static Layout across(Layout layout) {
    std::swap(layout.rows.own, layout.columns.own);
    return layout;
  }
};

// Column 20 is zero, here and in the residual: no fault of the factorisation, which must report it.
struct ZeroColumn : RowByRow {
  ZeroColumn(hpl::Kind kind, ScalarType type, std::uint64_t seed, const Layout& layout, Team& team)
      : RowByRow(kind, type, seed, layout, team), columns_(layout.columns) {}
  void row(std::size_t local_row, std::span<double> values) const override {
    Matrix::row(local_row, values);
    if (columns_.owner(20) == columns_.own) values[columns_.below(20)] = 0;
  }

 private:
  hpl::Dealt columns_;
};

template <class Wrong>
class WrongSolver : public Hpl {
 public:
  explicit WrongSolver(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  std::unique_ptr<Solver> make_solver(Session& session, const hpl::SolverWish& wish) override {
    return std::make_unique<Wrong>(session, layout(), form(), teams(), wish);
  }

 private:
  std::string name_;
};

template <class Wrong, bool again = false>
class WrongMatrix : public Hpl {
 public:
  explicit WrongMatrix(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  std::unique_ptr<Matrix> make_matrix(Session&, std::uint64_t repetition) override {
    return std::make_unique<Wrong>(kind(), type(), repetition, layout(), *teams().row);
  }
  std::unique_ptr<Matrix> make_matrix_again(Session&, std::uint64_t repetition) override {
    if (again) return std::make_unique<Wrong>(kind(), type(), repetition, layout(), *teams().row);
    return std::make_unique<Matrix>(kind(), type(), repetition, layout(), *teams().row);
  }

 private:
  std::string name_;
};

// The refinement stops at the factors' own solution.
struct RefinedNoFurther : Hpl {
  explicit RefinedNoFurther(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  std::size_t most_corrections() const override { return 0; }

 private:
  std::string name_;
};

template <class Wrong>
RegisteredBenchmark wrong_hpl_benchmark(const std::string& which) {
  const std::string name = "mutant-hpl-" + which;
  return {name, [name] { return std::make_unique<Wrong>(name); }};
}

const RegisteredBenchmark wrong_hpl[] = {
    wrong_hpl_benchmark<WrongSolver<StaleBroadcast>>("stale-broadcast"),
    wrong_hpl_benchmark<WrongSolver<MissingWait>>("missing-wait"),
    wrong_hpl_benchmark<WrongSolver<UpdateSkipped>>("update-skipped"),
    wrong_hpl_benchmark<WrongSolver<LastColumnLeft>>("last-column-left"),
    wrong_hpl_benchmark<WrongSolver<TileOfOtherSign>>("tile-of-other-sign"),
    wrong_hpl_benchmark<WrongSolver<HalfOfTheRow>>("half-of-the-row"),
    wrong_hpl_benchmark<WrongSolver<DisplacedLost>>("displaced-lost"),
    wrong_hpl_benchmark<WrongSolver<NoForward>>("no-forward"),
    wrong_hpl_benchmark<WrongSolver<NoBackward>>("no-backward"),
    wrong_hpl_benchmark<WrongSolver<RightSideNotExchanged>>("right-side-not-exchanged"),
    wrong_hpl_benchmark<WrongSolver<DigitOfX>>("digit-of-x"),
    wrong_hpl_benchmark<WrongMatrix<WrongEntry>>("wrong-entry"),
    wrong_hpl_benchmark<WrongMatrix<BlockRowRepeated>>("block-row-repeated"),
    wrong_hpl_benchmark<WrongMatrix<Swapped>>("grid-swapped"),
    wrong_hpl_benchmark<WrongMatrix<ZeroColumn, true>>("zero-column"),
    wrong_hpl_benchmark<RefinedNoFurther>("refined-no-further"),
};

}  // namespace

}  // namespace plumb::mutants::of_hpl
