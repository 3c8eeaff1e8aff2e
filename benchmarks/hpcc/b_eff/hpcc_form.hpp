// b_eff's part of a record in HPCC FPGA's JSON format.
#pragma once

#include "core/json.hpp"

namespace plumb {

// {name, results, timings, errors, settings}, from the record alone. Of the part `transfer` in the natural ring (in the
// random one when the record has no other), sizes by their base-2 logarithm:
//   results.b_eff   mean over the sizes measured of maxCalcBW, B/s; null with a reason when a size was wrong or none is
//   there timings.<size>  maxCalcBW = p*r*L*count/t, where t = maxMinCalculationTime = the slowest rank's fastest
//   repetition;
//                   timings: by rank {looplength, messageSize, timings: [{unit, value}]}
//   errors          wrong_bytes and checked_bytes of all sizes; <size>: its wrong bytes, where its bytes were checked
//   settings        "Loop Length" and "Repetitions" (the largest of these sizes), "Message Sizes" ("2^0 - 2^20")
Json b_eff_hpcc_form(const Json& record);

}  // namespace plumb
