// Floating-point operations of a step, counted.
#pragma once

#include "benchmarks/apps/shallow_water/physics.hpp"

namespace plumb::shallow_water {

// + - * / and roots of one step for an element with three neighbours, without redundant work: of each flux, half, since
// two elements share it; no velocities of neighbours; nothing that is a constant. Counted by running shallow_water.cl
// on numbers that count.
double flops_of_step(int order, const Physics& physics);

}  // namespace plumb::shallow_water
