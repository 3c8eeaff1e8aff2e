#define DOUBLE
#define ELEMENT double
#define REAL double
#define NAME MultiplyInDouble
#include "gemm_units.hpp"
