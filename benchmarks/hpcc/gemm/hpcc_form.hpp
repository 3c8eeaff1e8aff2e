// GEMM's part of a record in HPCC FPGA's JSON format.
#pragma once

#include "core/json.hpp"

namespace plumb {

Json gemm_hpcc_form(const Json& record);

}  // namespace plumb
