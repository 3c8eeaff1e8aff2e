// STREAM's record in HPCC FPGA's JSON shape: what is STREAM's own of it.
#pragma once

#include "core/json.hpp"

namespace plumb {

// {name, results, timings, errors, settings}, from the record alone. Operations under HPCC FPGA's names (PCI_write,
// Copy, Scale, Add, Triad, PCI_read; Dot is ours):
//   results.<Op>_best_rate  MB/s of all ranks; <Op>_min_t, _avg_t, _max_t  s; of the slowest rank of each repetition
//   timings.<Op>            the same times, one an operation and repetition
//   errors                  {a,b,c}_{average_error,average_relative_error}: of the arrays as Triad, Scale and Add leave
//                           them, 0 where every element was right, else null; {a,b,c}_expected is null, for each
//                           element has its own; epsilon of the type
//   settings                "Array Size", "Data Type", "Kernel Type" (Single or Separate)
Json stream_hpcc_form(const Json& record);

}  // namespace plumb
