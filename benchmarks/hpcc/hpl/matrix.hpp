// The matrix A and the right-hand side b: each element is a function of its global indices, so that any rank can make
// any of them at any time, on any grid.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/hpcc/hpl/layout.hpp"
#include "core/scalar.hpp"
#include "world/team.hpp"

namespace plumb::hpl {

enum class Kind { general, dominant };

// general:  HPL's: element (i, j) of [A b], n rows and n + 1 columns, is 1/2 - X / 2^64, X the word 1 + i + j n of
//           x -> 6364136223846793005 x + 1 modulo 2^64 from the seed (HPL_pdmatgen). To float it is rounded.
// dominant: the seed's rules (HPL-AI's): off the diagonal the same, rounded to 24 bits: exact in float, and
//           sums exact in double; on it a whole number above the sum of the row's other magnitudes; b = A (1 ... 1).
struct RowSums {
  std::vector<double> product, size, norm;  // per local row, over this rank's columns: sums of a x, |a x|, |a|
};

class Matrix {
 public:
  // Collective over `row`, the ranks of this rank's row of the grid, as every call that needs whole rows.
  Matrix(Kind kind, ScalarType type, std::uint64_t seed, const Layout& layout, Team& row);
  virtual ~Matrix() = default;

  // This rank's elements of a local row, exact in the type.
  virtual void row(std::size_t local_row, std::span<double> values) const;
  // By global indices, any row and column; on the diagonal of `dominant` in this rank's rows only.
  double element(std::size_t row, std::size_t column) const;
  double right_hand_side(std::size_t local_row) const { return b_.at(local_row); }

  // Factors from which a device makes it. Local element (i, j) is that of word row_factor[i] * column_start[j] +
  // row_summand[i], but on the diagonal of `dominant` diagonal[i], for each row.
  struct Rule {
    bool is_dominant;
    ScalarType type;  // to which elements are rounded
    std::span<const std::uint64_t> row_factor, row_summand, column_start;
    std::span<const double> diagonal;  // empty for `general`
  };
  // Empty if row() is on another rank.
  virtual std::optional<Rule> rule() const {
    return Rule{kind_ == Kind::dominant, type_, row_factor_, row_summand_, column_start_, diagonal_};
  }

 private:
  double word_to_value(std::uint64_t word) const;
  void sum_rows(Team& row);

  Kind kind_;
  std::uint64_t seed_;
  ScalarType type_;
  Layout layout_;
  std::vector<std::uint64_t> row_factor_, row_summand_;  // from a column's first word to that of each local row
  std::vector<std::uint64_t> column_start_;              // first word of each local column
  std::vector<double> diagonal_, b_;                     // of each local row
};

}  // namespace plumb::hpl
