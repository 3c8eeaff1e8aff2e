#include "core/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace plumb {

std::string format_bytes(std::uint64_t bytes) {
  static constexpr std::array<const char*, 7> names{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  std::size_t step = 0;
  while (value >= 1024.0 && step + 1 < names.size()) {
    value /= 1024.0;
    ++step;
  }
  return value == std::floor(value) ? fmt::format("{:.0f} {}", value, names[step])
                                    : fmt::format("{:.4g} {}", value, names[step]);
}

std::string format_seconds(double seconds) {
  const double size = std::fabs(seconds);
  if (size < 1e-6) return fmt::format("{:.4g} ns", seconds * 1e9);
  if (size < 1e-3) return fmt::format("{:.4g} us", seconds * 1e6);
  if (size < 1.0) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} s", seconds);
}

}  // namespace plumb
