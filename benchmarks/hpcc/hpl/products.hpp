// Products and triangular solves by the suite's own kernels.
#pragma once

#include <memory>

#include "benchmarks/hpcc/hpl/layout.hpp"
#include "device/library.hpp"

namespace plumb::hpl {

// On runtime `native`: gemm's tiles. A's parts are copied if they have gaps; B's have none. Throws Unsupported if
// a block is deeper than a tile.
std::unique_ptr<FactorLibrary> make_native_products(Device& device, const Layout& layout, ScalarType type);

}  // namespace plumb::hpl
