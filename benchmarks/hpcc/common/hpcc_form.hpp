// The form `hpcc-json`: HPCC FPGA's keys and structure with corrected types (numbers as numbers, text as text). The
// common part is here; benchmarks register their results, timings, errors and settings under their names.
#pragma once

#include <functional>

#include "core/json.hpp"
#include "core/registry.hpp"

namespace plumb {

// {name, results, timings, errors, settings} of a benchmark's record, from the record alone.
using HpccParts = std::function<Json(const Json& record)>;
using RegisteredHpccParts = Registered<HpccParts>;

// One of the form's figures; null unless finite.
Json quantity(const char* unit, double value);

}  // namespace plumb
