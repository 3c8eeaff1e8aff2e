#include "benchmarks/shmem/ssca1/blocked.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "device/host_simd.hpp"
#include "transport/idle.hpp"
#include "world/watchdog.hpp"

namespace plumb::ssca1 {

namespace {

// Unlike every codon and amino acid, and each other: rows and columns that fill lanes.
constexpr std::int8_t no_row = -1, no_column = -2;

// Scores rows until one has a pair above the minimum; returns its index, or the number of rows. Raises `highest`.
template <class T>
using ScoreRows = std::size_t (*)(Row<T>* rows, std::size_t from, std::size_t to, Block<T>& block,
                                  const Weights<T>& weights, Pairs<T>& pairs, T& highest);

template <class T>
[[gnu::always_inline]] inline std::size_t score_rows(Row<T>* rows, std::size_t from, std::size_t to, Block<T>& block,
                                                     const Weights<T>& weights, Pairs<T>& pairs, T& highest) {
  for (; from < to; ++from) {
    const T of_row = score_row(rows[from], block, weights, pairs);
    if (of_row <= weights.minimum) continue;
    highest = std::max(highest, of_row);
    break;
  }
  return from;
}

template <class T>
PLUMBLINE_VECTORS_OF_64 std::size_t score_rows_64(Row<T>* rows, std::size_t from, std::size_t to, Block<T>& block,
                                                  const Weights<T>& weights, Pairs<T>& pairs, T& highest) {
  return score_rows(rows, from, to, block, weights, pairs, highest);
}

template <class T>
PLUMBLINE_VECTORS_OF_32 std::size_t score_rows_32(Row<T>* rows, std::size_t from, std::size_t to, Block<T>& block,
                                                  const Weights<T>& weights, Pairs<T>& pairs, T& highest) {
  return score_rows(rows, from, to, block, weights, pairs, highest);
}

template <class T>
std::size_t score_rows_16(Row<T>* rows, std::size_t from, std::size_t to, Block<T>& block, const Weights<T>& weights,
                          Pairs<T>& pairs, T& highest) {
  return score_rows(rows, from, to, block, weights, pairs, highest);
}

template <class T>
ScoreRows<T> widest() {
  const std::size_t bytes = host_vector_bytes();
  return bytes == 64 ? score_rows_64<T> : bytes == 32 ? score_rows_32<T> : score_rows_16<T>;
}

template <class T>
Weights<T> weights_of(const Problem& problem) {
  const Scores& scores = problem.scores;
  const auto as = [](std::int64_t value) { return static_cast<T>(value); };
  return {as(scores.exact - scores.similar),
          as(scores.similar - scores.dissimilar),
          as(scores.dissimilar),
          as(scores.gap(1)),
          as(scores.gap_extend),
          as(problem.minimum)};
}

}  // namespace

Shares::Shares(std::uint64_t length_, std::uint64_t tile_, std::uint64_t lanes_, int ranks)
    : length(length_), tile(tile_), lanes(lanes_) {
  const std::uint64_t all_lanes = lanes * static_cast<std::uint64_t>(ranks);
  band = (length + all_lanes - 1) / all_lanes;
  active = static_cast<int>((length + rows() - 1) / rows());
}

template <class T>
std::uint64_t blocked_bytes(std::uint64_t length, std::uint64_t tile) {
  return 8 + (length + tile) / tile * tile * 2 * sizeof(T);
}

template <class T>
Blocked<T>::Blocked(World& world, const Problem& problem, std::uint64_t tile, std::unique_ptr<OneSided> memory)
    : problem_(problem),
      shares_(problem.length(), tile, lanes<T>, world.size()),
      rank_(world.rank()),
      memory_(std::move(memory)),
      rows_(rank_ < shares_.active ? shares_.band : 0) {
  out_.reserve(tile);
}

template <class T>
void Blocked<T>::reset() {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row<T>& row = rows_[i] = {};
    for (std::size_t k = 0; k < lanes<T>; ++k) {
      const std::uint64_t at = static_cast<std::uint64_t>(rank_) * shares_.rows() + k * shares_.band + i;
      const Codon codon = at < shares_.length ? problem_.strings.main[at] : no_codon;
      row.codon[k] = at < shares_.length ? static_cast<T>(codon) : no_row;
      row.amino[k] = at < shares_.length ? static_cast<T>(amino_acids[codon]) : no_row;
    }
  }
  out_.clear();
  if (!memory_) return;
  // As high as a score can be without an overflow: an edge read before it arrives is no low one.
  const T poison = std::numeric_limits<T>::max() / 2;
  std::fill_n(reinterpret_cast<T*>(memory_->local() + 8), (memory_->size() - 8) / sizeof(T), poison);
  memory_->synchronise();
}

template <class T>
bool Blocked<T>::overflows(T highest) const {
  return highest > std::numeric_limits<T>::max() - problem_.scores.exact;
}

template <class T>
void Blocked<T>::shift(Block<T>& block) const {
  for (auto* values : {&block.codon, &block.amino, &block.v, &block.down})
    for (LaneValues<T>& column : *values) std::copy_backward(column.begin(), column.end() - 1, column.end());
}

template <class T>
void Blocked<T>::turn_corner(Block<T>& block) const {
  block.corner = block.next_corner;
  block.next_corner = block.v.back();
}

template <class T>
void Blocked<T>::enter(Block<T>& block, std::uint64_t column) {
  const bool is_first = rank_ == 0;
  const std::uint64_t columns = std::min(shares_.length, last_block() * block_columns);
  if (!is_first && column < columns && column % shares_.tile == 0) {
    const Waiting waiting("a tile of the rank above");
    Idle idle(true);
    const std::uint64_t arrived = (runs_ - 1) * shares_.tiles() + column / shares_.tile + 1;
    for (unsigned looks = 1; !memory_->reached(0, arrived); ++looks)
      if (looks % 64 == 0) idle.look();
  }
  for (std::size_t c = 0; c < block_columns; ++c) {
    const std::uint64_t n = column + c;
    const bool is_codon = n < columns;
    Edge edge{0, 0};
    if (!is_first && is_codon) std::memcpy(&edge, memory_->local() + inbox(n), sizeof edge);
    block.codon[c][0] = is_codon ? static_cast<T>(problem_.strings.match[n]) : no_column;
    block.amino[c][0] = is_codon ? static_cast<T>(amino_acids[problem_.strings.match[n]]) : no_column;
    block.v[c][0] = edge.v;
    block.down[c][0] = edge.down;
  }
}

template <class T>
void Blocked<T>::leave(const Block<T>& block, std::uint64_t column) {
  if (rank_ + 1 >= shares_.active) return;
  for (std::size_t c = 0; c < block_columns; ++c) out_.push_back({block.v[c].back(), block.down[c].back()});
  const std::uint64_t end = column + block_columns;
  if (end % shares_.tile != 0 && end < shares_.length) return;
  memory_->put(0, inbox(end - out_.size()), out_.data(), out_.size() * sizeof(Edge), rank_ + 1);
  memory_->notify(0, 0, (runs_ - 1) * shares_.tiles() + (end - 1) / shares_.tile + 1, rank_ + 1);
  out_.clear();
}

template <class T>
void Blocked<T>::take(const Block<T>& block, const Pairs<T>& pairs, std::uint64_t row, std::uint64_t step,
                      Found& found) const {
  for (std::size_t k = 0; k < lanes<T>; ++k) {
    const std::uint64_t main = static_cast<std::uint64_t>(rank_) * shares_.rows() + k * shares_.band + row;
    for (std::size_t c = 0; c < block_columns && k <= step; ++c) {
      const std::uint64_t match = (step - k) * block_columns + c;
      if (pairs[c][k] > problem_.minimum && pairs[c][k] == block.v[c][k] &&
          may_end(problem_.strings, problem_.scores, main, match))
        found.ends.push_back({pairs[c][k], main, match});
    }
  }
}

template <class T>
Found Blocked<T>::run() {
  const Waiting waiting("kernel 1 of SSCA1");
  ++runs_;
  Found found;
  if (rows_.empty()) return found;
  const ScoreRows<T> score = widest<T>();
  const Weights<T> weights = weights_of<T>(problem_);
  auto block = std::make_unique<Block<T>>();
  for (auto* values : {&block->codon, &block->amino})  // lanes that wait for their first columns score nothing
    for (LaneValues<T>& column : *values) column.fill(no_column);
  Pairs<T> pairs;
  T highest = 0;
  const std::uint64_t blocks = last_block();
  for (std::uint64_t step = 0; step + 1 < blocks + lanes<T>; ++step) {
    shift(*block);
    enter(*block, step * block_columns);
    turn_corner(*block);
    for (std::size_t row = 0;; ++row) {
      row = score(rows_.data(), row, rows_.size(), *block, weights, pairs, highest);
      if (row == rows_.size()) break;
      take(*block, pairs, row, step, found);
    }
    if (step + 1 >= lanes<T>) leave(*block, (step + 1 - lanes<T>)*block_columns);
    if (step % 64 == 0) Waiting::progress();
  }
  const std::uint64_t first = static_cast<std::uint64_t>(rank_) * shares_.rows();
  found.cells = (std::min(shares_.length, first + shares_.rows()) - first) * shares_.length;
  found.overflowed = overflows(highest);
  return found;
}

template <class T>
Json Blocked<T>::facts() const {
  return {{"lanes", lanes<T>}, {"band_rows", shares_.band}, {"active_ranks", shares_.active}};
}

template std::uint64_t blocked_bytes<std::int16_t>(std::uint64_t, std::uint64_t);
template std::uint64_t blocked_bytes<std::int32_t>(std::uint64_t, std::uint64_t);
template class Blocked<std::int16_t>;
template class Blocked<std::int32_t>;

}  // namespace plumb::ssca1
