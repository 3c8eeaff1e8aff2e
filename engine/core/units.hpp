// Units: SI prefixes for rates (1 GB/s = 1e9 B/s), IEC prefixes for sizes (1 KiB = 1024 B), never mixed.
#pragma once

#include <cstdint>
#include <string>

namespace plumb {

inline constexpr double giga = 1e9;
inline constexpr double micro = 1e-6;

// 1 -> "1 B", 4096 -> "4 KiB", 1536 -> "1.5 KiB".
std::string format_bytes(std::uint64_t bytes);
// 1.5e-6 -> "1.5 us"; picks ns, us, ms or s.
std::string format_seconds(double seconds);

}  // namespace plumb
