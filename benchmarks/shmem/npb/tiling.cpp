#include "benchmarks/shmem/npb/tiling.hpp"

#include <algorithm>

namespace plumb::npb {

Tiling::Tiling(Cut cut, int n, int ranks) : cut_(cut), n_(n), ranks_(ranks) {
  for (int c = 1; c * c <= ranks; ++c)
    if (ranks % c == 0 && (cut == Cut::pencils || ranks / c % c == 0)) c_ = c;
  a_ = ranks / c_;
  tiles_ = cut == Cut::pencils ? Place{a_, c_, 1} : Place{a_, a_, c_};
}

int Tiling::owner(const Place& tile) const {
  const auto& [i, j, k] = tile;
  return cut_ == Cut::pencils ? i + a_ * j : (i + j) % a_ + a_ * ((j + k) % c_);
}

std::vector<Place> Tiling::tiles_of(int rank) const {
  std::vector<Place> all;
  for (int k = 0; k < tiles_[2]; ++k)
    for (int j = 0; j < tiles_[1]; ++j)
      for (int i = 0; i < tiles_[0]; ++i)
        if (owner({i, j, k}) == rank) all.push_back({i, j, k});
  return all;
}

Box Tiling::box(const Place& tile) const {
  Box box;
  for (std::size_t d = 0; d < 3; ++d) {
    box.first[d] = tile[d] * n_ / tiles_[d];
    box.count[d] = (tile[d] + 1) * n_ / tiles_[d] - box.first[d];
  }
  return box;
}

bool Tiling::contains(const Place& tile) const {
  for (std::size_t d = 0; d < 3; ++d)
    if (tile[d] < 0 || tile[d] >= tiles_[d]) return false;
  return true;
}

bool Tiling::fits() const {
  return n_ / *std::max_element(tiles_.begin(), tiles_.end()) >= 2;
}

int most_ranks(Cut cut, int n, int ranks) {
  while (!Tiling(cut, n, ranks).fits()) --ranks;
  return ranks;
}

}  // namespace plumb::npb
