#include "benchmarks/hpcc/hpl/solver.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <numeric>
#include <thread>

namespace plumb::hpl {

Teams make_teams(World& world, const Layout& layout) {
  std::vector<int> row, column;
  for (int rank = 0; rank < world.size(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    if (r / layout.columns.parts == layout.rows.own) row.push_back(rank);
    if (r % layout.columns.parts == layout.columns.own) column.push_back(rank);
  }
  Teams teams;
  teams.row = world.team(row);
  teams.column = world.team(column);
  return teams;
}

Solver::Solver(Session& session, const Layout& layout, Form& form, const Teams& teams, const SolverWish& wish)
    : layout_(layout),
      form_(form),
      teams_(teams),
      wish_(wish),
      broadcast_(session.transport, wish.way, *teams.row, form.panel_buffers(), wish.piece) {}

void Solver::reset(std::span<const double> b) {
  moves_.assign(layout_.blocks(), {});
  singular_ = corrupt_ = -1;
  s_.assign(layout_.rows.count(), 0);
  if (layout_.columns.own == 0) std::copy(b.begin(), b.end(), s_.begin());
  x_.assign(layout_.columns.count(), std::numeric_limits<double>::quiet_NaN());
}

void Solver::factorise(Timed& timed) {
  timed_ = &timed;
  const auto whole = timed.phase(factorisation);
  const std::size_t blocks = layout_.blocks();
  begin_panel(make_step(layout_, 0));
  send_panel(make_step(layout_, 0));
  for (std::size_t k = 0; k < blocks; ++k) {
    const Step step = make_step(layout_, k);
    take_panel(step);
    Columns rest = columns_right_of(step);
    if (k + 1 == blocks) break;
    const Step next = make_step(layout_, k + 1);
    if (wish_.depth == 0) {
      take_part(step, rest);
      end_update();
      begin_panel(next);
      send_panel(next);
      continue;
    }
    if (next.in_column) {  // the next panel's columns first, to send it during the rest
      take_part(step, {next.column, next.right});
      end_update();
      rest.begin = next.right;
    }
    begin_panel(next);
    const bool is_there = form_.has_panel();
    if (is_there) send_panel(next);
    take_part(step, rest);
    if (!is_there) send_panel(next);
  }
  form_.finish();
}

// Starts the factorisation on its ranks; a device may still be working on return.
void Solver::begin_panel(const Step& step) {
  if (!step.in_column) return;
  timed_->begin(panel);
  factor_panel(step);
}

void Solver::send_panel(const Step& step) {
  if (step.in_column) {
    await_panel();
    timed_->end(panel);
  }
  timed_->begin(broadcast);
  start_broadcast(step);
}

void Solver::take_panel(const Step& step) {
  wait_broadcast(step);
  timed_->end(broadcast);
  end_update();  // of the previous step
  PanelHead head = form_.head(step, buffer_of(step));
  if (!are_rows_of(step, head.pivots)) {
    if (corrupt_ < 0) corrupt_ = static_cast<std::int64_t>(step.index);
    std::iota(head.pivots.begin(), head.pivots.end(), static_cast<std::int64_t>(step.begin));
  } else if (singular_ < 0) {
    singular_ = head.singular;
  }
  moves_[step.index] = interchange(step, head.pivots);
}

void Solver::take_part(const Step& step, Columns columns) {
  {
    const auto phase = timed_->phase(row_exchange);
    exchange_rows(step, columns);
    form_.finish();
  }
  timed_->begin(update);
  update_columns(step, columns);
}

// An update ends when the host observes its completion.
void Solver::end_update() {
  if (!timed_->is_open(update)) return;
  form_.finish();
  timed_->end(update);
}

// Meanwhile an update in the background goes on, and its end is looked for.
void Solver::await_panel() {
  while (!form_.has_panel()) {
    form_.continue_update();
    if (timed_->is_open(update) && form_.has_finished()) timed_->end(update);
    if (!form_.continue_panel()) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

// Whether each row is in the block (from its own row on), or below it.
bool Solver::are_rows_of(const Step& step, const std::vector<std::int64_t>& pivots) const {
  for (std::size_t j = 0; j < pivots.size(); ++j)
    if (pivots[j] < static_cast<std::int64_t>(step.begin + j) || pivots[j] >= static_cast<std::int64_t>(layout_.n))
      return false;
  return true;
}

void Solver::factor_panel(const Step& step) {
  form_.factor(step, wish_.pivoting, *teams_.column, buffer_of(step));
}

void Solver::start_broadcast(const Step& step) {
  const PanelPlaces places =
      panel_places(layout_.block, step.width, layout_.rows.count() - step.below, form_.element_bytes());
  broadcast_.start(buffer_of(step), static_cast<int>(step.owner_column), places.bytes);
}

void Solver::wait_broadcast(const Step&) {
  broadcast_.wait();
}

void Solver::exchange_rows(const Step& step, Columns columns) {
  form_.exchange_rows(step, moves(step.index), columns, *teams_.column);
}

void Solver::update_columns(const Step& step, Columns columns) {
  form_.update(step, buffer_of(step), columns);
}

void Solver::solve_both(Timed& timed) {
  timed_ = &timed;
  const auto phase = timed.phase(solve);
  // Only the receivers of a wrong panel can detect it.
  std::int64_t found[] = {singular_, corrupt_};
  for (Team* team : {teams_.row.get(), teams_.column.get()})
    team->all_reduce(std::span<std::int64_t>(found), Fold::maximum);
  singular_ = found[0];
  corrupt_ = found[1];
  if (is_broken()) return;
  forward();
  backward();
}

const std::vector<double>& Solver::solve_for(std::span<const double> r) {
  s_.assign(layout_.rows.count(), 0);
  if (layout_.columns.own == 0) std::copy(r.begin(), r.end(), s_.begin());
  forward();
  backward();
  return x_;
}

std::vector<double> Solver::block_sum(const Step& step) {
  const std::span<double> mine = rows_of(step);
  std::vector<double> sum(mine.begin(), mine.end());
  teams_.row->all_reduce(std::span(sum), Fold::sum);
  return sum;
}

// Row moves of a panel's pivots, on right-hand sides whose parts each column of the grid has.
void Solver::exchange_right_side(const Step& step) {
  const Interchange& moved = moves(step.index);
  std::map<std::size_t, std::size_t> place;  // position of a row among the values
  for (std::size_t i = 0; i < step.width; ++i) place.emplace(step.begin + i, place.size());
  for (const std::size_t row : moved.top) place.emplace(row, place.size());
  for (const auto& move : moved.displaced) place.emplace(move.to, place.size());
  std::vector<double> values(place.size(), 0);
  const auto is_mine = [&](std::size_t row) { return layout_.rows.owner(row) == layout_.rows.own; };
  for (const auto& [row, at] : place)
    if (is_mine(row)) values[at] = s_[layout_.rows.below(row)];
  teams_.column->all_reduce(std::span(values), Fold::sum);
  for (std::size_t i = 0; i < step.width; ++i)
    if (is_mine(step.begin + i)) s_[layout_.rows.below(step.begin + i)] = values[place.at(moved.top[i])];
  for (const auto& move : moved.displaced)
    if (is_mine(move.to)) s_[layout_.rows.below(move.to)] = values[place.at(move.from)];
}

void Solver::forward() {
  for (std::size_t k = 0; k < layout_.blocks(); ++k) {
    const Step step = make_step(layout_, k);
    exchange_right_side(step);
    std::vector<double> y(step.width);
    if (step.in_row) {
      y = block_sum(step);
      std::ranges::fill(rows_of(step), 0.0);
    }
    if (step.owns()) {
      form_.solve_lower(step, y);
      std::ranges::copy(y, rows_of(step).begin());
    }
    if (!step.in_column) continue;
    teams_.column->broadcast(std::as_writable_bytes(std::span(y)), static_cast<int>(step.owner_row));
    form_.subtract_lower(step, y, std::span(s_).subspan(step.below));
  }
}

void Solver::backward() {
  for (std::size_t k = layout_.blocks(); k-- > 0;) {
    const Step step = make_step(layout_, k);
    std::vector<double> x(step.width);
    if (step.in_row) x = block_sum(step);
    if (step.owns()) form_.solve_upper(step, x);
    if (!step.in_column) continue;
    teams_.column->broadcast(std::as_writable_bytes(std::span(x)), static_cast<int>(step.owner_row));
    std::ranges::copy(x, x_.begin() + static_cast<std::ptrdiff_t>(step.column));
    form_.subtract_upper(step, x, std::span(s_).first(step.row));
  }
}

}  // namespace plumb::hpl
