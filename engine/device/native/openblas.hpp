// OpenBLAS, for products of runtime `native` and for references.
#pragma once

#include <string>

namespace plumb {

// "OpenBLAS 0.3.21 (SkylakeX)": the version, and the CPU whose kernels it has chosen.
std::string openblas_name();

// OpenBLAS chooses its kernels by the CPU's model when it is loaded, and on a model younger than itself it takes those
// for Prescott, without AVX. Where that is so and the CPU has wider vectors, names their kernels in OPENBLAS_CORETYPE
// and starts the program anew; a user's OPENBLAS_CORETYPE is left as it is. The first act of a program.
void choose_openblas_kernels(char** argv);

}  // namespace plumb
