// Converts arrays of half to float and back by vector instructions where available: portable code calls a function for
// each number.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plumb {

void widen_halves(const std::uint16_t* halves, float* floats, std::size_t count);
void narrow_to_halves(const float* floats, std::uint16_t* halves, std::size_t count);  // round to nearest, ties to even

}  // namespace plumb
