// The cube's cut into tiles, and their owners.
#pragma once

#include <array>
#include <vector>

#include "benchmarks/shmem/npb/cfd.hpp"

namespace plumb::npb {

// diagonal: p = a c ranks with the largest c that divides a, a x a x c tiles, owner ((i + j) mod a) + a ((j + k) mod
// c): in each slab all ranks own equally many tiles, and each rank has one neighbour in each direction (Darte et al.,
// "Generalized multipartitioning", IPDPS 2002). pencils: px x py x 1 tiles, one a rank.
enum class Cut { diagonal, pencils };

class Tiling {
 public:
  Tiling(Cut cut, int n, int ranks);

  // Tiles along each axis.
  const Place& tiles() const { return tiles_; }
  int points() const { return n_; }
  int ranks() const { return ranks_; }
  int owner(const Place& tile) const;
  // In order of z, y, x.
  std::vector<Place> tiles_of(int rank) const;
  Box box(const Place& tile) const;
  bool contains(const Place& tile) const;
  // Each tile has at least two points an axis.
  bool fits() const;

 private:
  Cut cut_;
  int n_, ranks_, a_ = 1, c_ = 1;
  Place tiles_;
};

// The largest number of ranks, at most `ranks`, whose tiles have at least two points an axis.
int most_ranks(Cut cut, int n, int ranks);

}  // namespace plumb::npb
