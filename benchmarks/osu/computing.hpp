// Computing of a given duration, between a transfer's begin and its end.
#pragma once

#include <cstdint>

namespace plumb::osu {

struct Computing {
  double seconds_per_turn = 0;
  std::uint64_t turns = 0;
  void measure();
  void compute() const { compute(turns); }
  void compute(std::uint64_t so_many) const;
};

}  // namespace plumb::osu
