#include <cstdint>
#define HALF
#define ELEMENT std::uint16_t
#define REAL float
#define NAME MultiplyInHalf
#include "gemm_units.hpp"
