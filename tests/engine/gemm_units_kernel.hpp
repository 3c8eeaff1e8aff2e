// The kernel as C++ for gemm_units.hpp. A system's header, so that no compiler warns of what OpenCL C does.
#pragma GCC system_header
#include "benchmarks/hpcc/gemm/gpu.cl"
