// The kernel that combines numbers in reductions on a device.
#pragma once

#include "device/device.hpp"

namespace plumb {

// Identified by position in reduction.cl.
enum class Operation { sum, product, maximum, minimum, bit_and, bit_or, bit_xor, logical_and, logical_or, logical_xor };
enum class NumberType { int8, int16, int32, int64, uint8, uint16, uint32, uint64, f32, f64 };

std::size_t size_of(NumberType type);  // bytes

// Whether a device supports the type.
bool has_numbers(const DeviceInfo& info, NumberType type);

// Kernel "combine": (buffer into, uint64 first, buffer a, uint64 first_a, buffer b, uint64 first_b, uint64 count):
// into[first + i] becomes a[first_a + i] and b[first_b + i] combined; `into` may be either of them, at the same place.
// Sums and products of integers wrap; a logical result is 0 or 1. Throws Error for bitwise or logical operations of
// float or double.
KernelSource combine_source(NumberType type, Operation operation);
KernelRange combine_range(const DeviceInfo& info, std::uint64_t count);

}  // namespace plumb
