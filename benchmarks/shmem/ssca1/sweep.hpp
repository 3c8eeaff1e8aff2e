// The inner loop of variant `blocked`: a step of all lanes of a rank, whose rows are divided into a band for each lane.
// In a step, each lane scores its band's rows of a block of columns; the next lane is a block behind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace plumb::ssca1 {

inline constexpr std::size_t block_columns = 8;
template <class T>
inline constexpr std::size_t lanes = 64 / sizeof(T);  // one or two vector registers

template <class T>
using LaneValues = std::array<T, lanes<T>>;
template <class T>
using BlockValues = std::array<LaneValues<T>, block_columns>;

// What the rows of a band keep from block to block.
template <class T>
struct alignas(64) Row {
  LaneValues<T> codon, amino;  // of the main string
  LaneValues<T> along;         // E of the next column
  LaneValues<T> last;          // V of the last column
};

// The columns of a step; on return `v` and `down` are those below the bands.
template <class T>
struct alignas(64) Block {
  BlockValues<T> codon, amino;  // of the match string
  BlockValues<T> v, down;       // V of the row above; F
  LaneValues<T> corner;         // V of the row above, in the column before
  LaneValues<T> next_corner;    // that of the next step
};

template <class T>
struct Weights {
  T exact, similar, dissimilar;  // what equal codons add to similar ones, these to dissimilar ones, and those
  T open, extend, minimum;
};

// The pair scores of a row in which an alignment exceeds the minimum.
template <class T>
using Pairs = BlockValues<T>;

// Scores one row. Returns the highest score of a pair.
template <class T>
[[gnu::always_inline]] inline T score_row(Row<T>& row, Block<T>& block, Weights<T> weights, Pairs<T>& pairs) {
  LaneValues<T> best;
#pragma omp simd
  for (std::size_t k = 0; k < lanes<T>; ++k) {
    const T codon = row.codon[k], amino = row.amino[k];
    T diagonal = block.corner[k], along = row.along[k], highest = 0, v = 0;
    block.corner[k] = row.last[k];
#pragma GCC unroll 8
    for (std::size_t c = 0; c < block_columns; ++c) {
      const T similar = block.amino[c][k] == amino ? weights.similar : T{0};
      const T exact = block.codon[c][k] == codon ? weights.exact : T{0};
      const T pair = static_cast<T>(static_cast<T>(diagonal + weights.dissimilar) + static_cast<T>(similar + exact));
      const T down = block.down[c][k];
      diagonal = block.v[c][k];
      v = pair > along ? pair : along;
      v = v > down ? v : down;
      v = v > 0 ? v : T{0};
      const T begun = static_cast<T>(pair - weights.open);
      const T further = static_cast<T>(along - weights.extend), lower = static_cast<T>(down - weights.extend);
      along = further > begun ? further : begun;
      block.down[c][k] = lower > begun ? lower : begun;
      block.v[c][k] = v;
      pairs[c][k] = pair;
      highest = highest > pair ? highest : pair;
    }
    row.along[k] = along;
    row.last[k] = v;
    best[k] = highest;
  }
  T highest = 0;
  for (std::size_t k = 0; k < lanes<T>; ++k) highest = best[k] > highest ? best[k] : highest;
  return highest;
}

}  // namespace plumb::ssca1
