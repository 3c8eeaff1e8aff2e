// The kernel by which reductions combine numbers on a device.
#pragma once

#include "device/device.hpp"

namespace plumb {

enum class Operation { sum, maximum, minimum };
enum class NumberType { int32, int64, f32, f64 };

std::size_t size_of(NumberType type);  // bytes

// Whether a device has the type at all.
bool has_numbers(const DeviceInfo& info, NumberType type);

// Kernel "combine": (buffer into, uint64 first, buffer from, uint64 count): numbers into[first + i] are combined with
// from[i]. Sums of integers wrap.
KernelSource combine_source(NumberType type, Operation operation);
KernelRange combine_range(std::uint64_t count);

}  // namespace plumb
