// The parts of HPCC FPGA's LINPACK report that are specific to this benchmark, from the record.
#pragma once

#include "core/json.hpp"

namespace plumb {

// From the first case; times of the slowest rank in each repetition, operations as counted by HPCC FPGA (2 n^3/3 for
// the factorisation, 2 n^2 for the solves):
//   results   t_, tlu_, tsl_{mean,min}  s: both, phase factorisation, phase solve; gflops, gflops_lu, gflops_sl
//   timings   gefa, gesl: the two phases
//   errors    residual: null, not in the record; residual_norm: if dominant, max |x - 1| over n max|b| eps,
//             otherwise HPL's scaled residual; epsilon of the type
//   settings  "Matrix Size", "Block Size", "Emulate", "Diagonally Dominant", "Data Type", "FPGA Torus" {P, Q}
Json hpl_hpcc_form(const Json& record);

}  // namespace plumb
