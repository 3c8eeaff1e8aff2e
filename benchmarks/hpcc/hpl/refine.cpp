#include "benchmarks/hpcc/hpl/refine.hpp"

namespace plumb::hpl {

namespace {

constexpr double enough_scaled = 1, enough_of_row = 2;  // at most half of the limits of a double solution
constexpr double least_progress = 1.1;                  // factor by which a step must lower the residual

}  // namespace

bool RefineStep::is_enough() const {
  return scaled <= enough_scaled && largest_row <= enough_of_row;
}

Refined refine(const Matrix& matrix, const Layout& layout, Form& form, Solver& solver, const Teams& teams,
               std::size_t most) {
  Refined found{solver.x(), {}};
  while (true) {
    const RowSums sums = row_sums_of_all(matrix, layout, found.x, teams, &form);
    const Residual now = residual_of(sums, matrix, layout, ScalarType::f64, found.x, teams);
    found.steps.push_back({now.scaled, now.largest_row});
    const std::size_t made = found.steps.size();
    const bool stalls = made > 1 && !(now.scaled * least_progress <= found.steps[made - 2].scaled);
    if (found.converged() || stalls || made > most) return found;
    std::vector<double> rest(sums.product.size());
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = matrix.right_hand_side(i) - sums.product[i];
    const std::vector<double>& correction = solver.solve_for(rest);
    for (std::size_t j = 0; j < found.x.size(); ++j) found.x[j] += correction[j];
  }
}

}  // namespace plumb::hpl
