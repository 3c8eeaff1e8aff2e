// The parts of HPCC FPGA's GEMM report that are this benchmark's own, from the record.
#pragma once

#include "core/json.hpp"

namespace plumb {

Json gemm_hpcc_form(const Json& record);

}  // namespace plumb
