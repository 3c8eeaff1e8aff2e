// RandomAccess's part of a record in HPCC FPGA's JSON format.
#pragma once

#include "core/json.hpp"

namespace plumb {

// {name, results, timings, errors, settings}, from the record alone, of the case `buffered` if measured, otherwise of
// the first case. Times are means over the ranks of each repetition, as in HPCC FPGA:
//   results   guops = all ranks' updates / 1e9 / t_min; t_min, t_mean: least and mean over repetitions. Null, with a
//             reason, when the case was wrong or not measured
//   timings   execution: [{unit, value}], by repetition
//   errors    ratio: wrong words / words of the worst rank; null when nothing was compared
//   settings  "Array Size" (words of a rank's table), "#RNGs" (generators of a replication)
Json random_access_hpcc_form(const Json& record);

}  // namespace plumb
