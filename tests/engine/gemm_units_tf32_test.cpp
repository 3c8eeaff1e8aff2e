#define TF32
#define ELEMENT float
#define REAL float
#define NAME MultiplyInTf32
#include "gemm_units.hpp"
