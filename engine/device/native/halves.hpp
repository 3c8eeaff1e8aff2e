// Runs of halves to floats and back, by the processor's own instructions where it has them: compilers for a processor
// of any make convert each number by a function call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plumb {

void widen_halves(const std::uint16_t* halves, float* floats, std::size_t count);
void narrow_to_halves(const float* floats, std::uint16_t* halves, std::size_t count);  // to nearest, ties to even

}  // namespace plumb
