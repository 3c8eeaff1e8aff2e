// The form `hpcc-json`: HPCC FPGA's keys and shape with the types put right (numbers are numbers, text is text). The
// frame is here; results, timings, errors and settings of its own a benchmark registers under its name.
#pragma once

#include <functional>

#include "core/json.hpp"
#include "core/registry.hpp"

namespace plumb {

// {name, results, timings, errors, settings} of a benchmark's record, from the record alone.
using HpccParts = std::function<Json(const Json& record)>;
using RegisteredHpccParts = Registered<HpccParts>;

// One of the form's figures; null where the value is not finite.
Json quantity(const char* unit, double value);

}  // namespace plumb
