#include "benchmarks/osu/computing.hpp"

#include <algorithm>

#include "measure/clock.hpp"

namespace plumb::osu {

// Sums that depend on each other; the compiler must not remove them.
void Computing::compute(std::uint64_t so_many) const {
  double sum = 1;
  for (std::uint64_t i = 0; i < so_many; ++i) {
    sum = sum * 1.0000001 + 1e-9;
    asm volatile("" : "+x"(sum));
  }
}

void Computing::measure() {
  if (seconds_per_turn > 0) return;
  turns = 1 << 16;
  seconds_per_turn = 1;
  for (int i = 0; i < 5; ++i) {
    const double begin = now_seconds();
    compute();
    seconds_per_turn = std::min(seconds_per_turn, (now_seconds() - begin) / static_cast<double>(turns));
  }
  turns = 0;
}

}  // namespace plumb::osu
