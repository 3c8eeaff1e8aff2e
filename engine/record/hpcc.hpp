// The form `hpcc-json`: HPCC FPGA's keys and shape with the types put right (numbers are numbers, text is text). The
// frame is here; results, timings, errors and a benchmark's own settings come from Benchmark::hpcc_form().
#pragma once

#include <string>

#include "core/json.hpp"

namespace plumb {

// Throws UsageError when HPCC FPGA has no such benchmark, or the record's benchmark is not known to this program.
Json hpcc_form_of(const Json& record);

// Whether HPCC FPGA has a benchmark of this name.
bool has_hpcc_form(const std::string& benchmark);

// One of the form's figures; null where the value is not finite.
Json quantity(const char* unit, double value);

}  // namespace plumb
