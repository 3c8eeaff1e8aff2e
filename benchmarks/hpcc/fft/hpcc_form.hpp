// FFT's part of a record in HPCC FPGA's JSON format.
#pragma once

#include "core/json.hpp"

namespace plumb {

// {name, results, timings, errors, settings}, from the record alone, of the first measured size, as HPCC FPGA has a
// single one.
//   results   t_min, t_avg: seconds of one transform (t/batch) of the slowest rank, best and mean repetition;
//   gflops_min,
//             gflops_avg: of all ranks together by these times. Null with a reason when the transforms were wrong.
//   timings   execution: seconds of the whole batch, one a repetition
//   errors    residual, epsilon
//   settings  "FFT Size", "Batch Size", "Inverse", "Data Type"
Json fft_hpcc_form(const Json& record);

}  // namespace plumb
