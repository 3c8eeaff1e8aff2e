// The factorisation and the solves on a grid of ranks: the order of computation and communication. Each step is a
// virtual function, so that a test can omit one.
#pragma once

#include <memory>
#include <vector>

#include "benchmarks/hpcc/hpl/broadcast.hpp"
#include "benchmarks/hpcc/hpl/form.hpp"
#include "measure/timed.hpp"
#include "transport/transport.hpp"

namespace plumb::hpl {

// Phases of a sample, in this order.
enum Phase : std::size_t { factorisation, panel, broadcast, row_exchange, update, solve, refinement };
inline const std::vector<std::string> phase_names{"factorisation", "panel", "broadcast", "row exchange",
                                                  "update",        "solve", "refinement"};

// This rank's teams: the row and the column of the grid.
struct Teams {
  std::unique_ptr<Team> row, column;
};
Teams make_teams(World& world, const Layout& layout);

struct SolverWish {
  bool pivoting = true;
  std::size_t depth = 0;  // panels factorised ahead of the update: 0 or 1
  Way way = Way::ring;
  std::size_t piece = 1;  // of a panel's broadcast, bytes
};

class Solver {
 public:
  // Collective over the world.
  Solver(Session& session, const Layout& layout, Form& form, const Teams& teams, const SolverWish& wish);
  virtual ~Solver() = default;

  // b: of this rank's rows. Collective; discards the state of earlier runs.
  void reset(std::span<const double> b);
  // P A = L U.
  void factorise(Timed& timed);
  // L y = P b, then U x = y; skipped if the factorisation failed. All ranks then have the cause.
  void solve_both(Timed& timed);

  // L U d = P r by the same factors, for r of this rank's rows, the same on all ranks of its row of the grid.
  // Afterwards x() is d.
  const std::vector<double>& solve_for(std::span<const double> r);

  // Columns without a pivot: the first of them, -1 if there is none.
  std::int64_t singular() const { return singular_; }
  // The first step whose panel arrived with invalid pivots, -1 if there is none. It went on without exchanges.
  std::int64_t corrupt() const { return corrupt_; }
  bool is_broken() const { return singular_ >= 0 || corrupt_ >= 0; }
  // x, of this rank's columns.
  const std::vector<double>& x() const { return x_; }
  // The row permutation of a step's pivots.
  const Interchange& moves(std::size_t step) const { return moves_.at(step); }

 protected:
  // Parts of the factorisation, for tests that break them.
  virtual void factor_panel(const Step& step);
  virtual void start_broadcast(const Step& step);
  virtual void wait_broadcast(const Step& step);
  virtual void exchange_rows(const Step& step, Columns columns);
  virtual void update_columns(const Step& step, Columns columns);
  virtual void forward();
  virtual void backward();
  virtual void exchange_right_side(const Step& step);

  const Layout& layout() const { return layout_; }
  Form& form() { return form_; }
  const Teams& teams() const { return teams_; }
  Timed& timed() { return *timed_; }
  const SolverWish& wish() const { return wish_; }
  std::vector<double>& right_side() { return s_; }
  std::vector<double>& solution() { return x_; }
  std::size_t buffer_of(const Step& step) const { return step.index % 2; }

 private:
  Columns columns_right_of(const Step& step) const { return {step.right, layout_.columns.count()}; }
  void begin_panel(const Step& step);
  void send_panel(const Step& step);  // when it is complete
  void take_panel(const Step& step);  // waits for it, and reads its pivots
  void take_part(const Step& step, Columns columns);
  void end_update();
  void await_panel();
  bool are_rows_of(const Step& step, const std::vector<std::int64_t>& pivots) const;
  std::span<double> rows_of(const Step& step) { return std::span(s_).subspan(step.row, step.below - step.row); }
  // This rank's part of the sum for the block's rows, added up on the owner of the diagonal block.
  std::vector<double> block_sum(const Step& step);

  Layout layout_;
  Form& form_;
  const Teams& teams_;
  SolverWish wish_;
  PanelBroadcast broadcast_;
  Timed* timed_ = nullptr;
  std::vector<Interchange> moves_;
  std::int64_t singular_ = -1, corrupt_ = -1;
  // This rank's rows of the remaining right-hand side; its value is the sum over a row of the grid.
  std::vector<double> s_, x_;
};

}  // namespace plumb::hpl
