// A solution by low-precision factors, refined to double: HPL-MxP's rules, with plain iterative refinement.
#pragma once

#include <functional>
#include <vector>

#include "benchmarks/hpcc/hpl/matrix.hpp"
#include "benchmarks/hpcc/hpl/residual.hpp"
#include "benchmarks/hpcc/hpl/solver.hpp"

namespace plumb::hpl {

// Residual of a step.
struct RefineStep {
  double scaled = 0, largest_row = 0;  // as in Residual, in double
  bool is_enough() const;              // for a solution in double
};

struct Refined {
  std::vector<double> x;          // of this rank's columns
  std::vector<RefineStep> steps;  // the first is of the factors' own solution; the last is x's
  bool converged() const { return !steps.empty() && steps.back().is_enough(); }
};

// Steps of r = b - A x, in double, L U d = r by the factors, x = x + d, until a residual is enough, `most` corrections
// are made, or a correction lowers it by less than a tenth. Collective; the same on all ranks except x.
Refined refine(const Matrix& matrix, const Layout& layout, Form& form, Solver& solver, const Teams& teams,
               std::size_t most);

}  // namespace plumb::hpl
