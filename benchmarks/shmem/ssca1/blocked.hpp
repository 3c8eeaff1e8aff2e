// Variant `blocked`: each rank scores a band of rows for each lane of its vector registers, all columns from left to
// right, behind the rank above it, which puts the values of its last row a tile of columns at a time and notifies.
#pragma once

#include "benchmarks/shmem/ssca1/kernel1.hpp"
#include "benchmarks/shmem/ssca1/sweep.hpp"

namespace plumb::ssca1 {

// Rows and columns of the ranks; `lanes` of a rank have `band` rows each, the last ranks fewer or none.
struct Shares {
  std::uint64_t length, tile, lanes, band;
  int active;  // ranks that have rows

  Shares(std::uint64_t length, std::uint64_t tile, std::uint64_t lanes, int ranks);
  std::uint64_t rows() const { return lanes * band; }  // of a rank
  std::uint64_t tiles() const { return (length + tile - 1) / tile; }
  std::uint64_t blocks() const { return (length + block_columns - 1) / block_columns; }
};

template <class T>
std::uint64_t blocked_bytes(std::uint64_t length, std::uint64_t tile);

// T: std::int16_t or std::int32_t. `tile` is a multiple of block_columns.
template <class T>
class Blocked : public Kernel1 {
 public:
  Blocked(World& world, const Problem& problem, std::uint64_t tile, std::unique_ptr<OneSided> memory);
  void reset() override;
  Found run() override;
  Json facts() const override;

 protected:
  // Replaced by mutants.
  virtual bool overflows(T highest) const;
  virtual void shift(Block<T>& block) const;  // each lane's last row, and columns, to the next lane
  virtual void turn_corner(Block<T>& block) const;
  virtual std::uint64_t last_block() const { return shares_.blocks(); }

  const Problem& problem() const { return problem_; }
  const Shares& shares() const { return shares_; }

 private:
  struct Edge {  // V and F below a rank's last row
    T v, down;
  };

  void enter(Block<T>& block, std::uint64_t column);  // the first lane's columns from the rank above
  void leave(const Block<T>& block, std::uint64_t column);
  void take(const Block<T>& block, const Pairs<T>& pairs, std::uint64_t row, std::uint64_t step, Found& found) const;
  std::size_t inbox(std::uint64_t column) const { return sizeof(std::uint64_t) + column * sizeof(Edge); }

  const Problem& problem_;
  Shares shares_;
  int rank_;
  // A count of all tiles arrived; then an edge for each column. Null on a single rank.
  std::unique_ptr<OneSided> memory_;
  std::uint64_t runs_ = 0;
  std::vector<Edge> out_;  // of the tile begun
  std::vector<Row<T>> rows_;
};

}  // namespace plumb::ssca1
