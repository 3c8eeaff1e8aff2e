// PTRANS's part of a record in HPCC FPGA's JSON format.
#pragma once

#include "core/json.hpp"

namespace plumb {

// Of the first case; times are those of one operation, of the slowest rank in each repetition; n is the matrix's size:
//   results   {avg,min}_t, _calc_t, _transfer_t  s: the whole, phase kernel, phase exchange
//             {avg,max}_calc_flops  n^2 / calc_t, GFLOP/s; _mem_bandwidth, _transfer_bandwidth  3 n^2 numbers' bytes
//             over calc_t, transfer_t, GB/s
//   timings   calculation, transfer
//   errors    max_error: the largest difference (0: every number was right), epsilon of the type
//   settings  "Matrix Size", "Block Size", "Data Type", "Data Handler" (DIAG, PQ), "FPGA Torus" {P, Q}
Json ptrans_hpcc_form(const Json& record);

}  // namespace plumb
