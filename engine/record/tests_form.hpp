// The forms `shoms` and `osu`: the columns that SHOMS and OSU's OpenSHMEM tests print, a block for each test, for
// scripts that read those. From the record alone.
#pragma once

#include <string>

#include "core/json.hpp"

namespace plumb {

// #bytes #repetitions t_min[nsec] t_max[nsec] t_avg[nsec] Bw_aggregated[MB/sec]. Times are nanoseconds of one
// operation, 1 MB is 1e6 bytes, N/A stands where no data moves (SHOMS multiplies by its clock's GHz where it should
// divide). Throws UsageError for the record of another benchmark.
std::string shoms_form(const Json& record);

// "# OSU OpenSHMEM Put Test", then size and latency, bandwidth, rate, overlap or operations, as the test has them.
// Throws UsageError for the record of another benchmark.
std::string osu_form(const Json& record);

}  // namespace plumb
