// The two strings of codons that SSCA1 compares: a function of a seed, the pair's number, the string and the position,
// alike on any number of ranks, with three pairs of planted strings. README.md in this folder defines them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace plumb::ssca1 {

using Codon = std::uint8_t;            // 16 first + 4 second + third base; a 0, g 1, c 2, t 3
inline constexpr Codon no_codon = 64;  // fills tiles; dissimilar to every codon

// The amino acid of each codon, or its stop (*): the standard genetic code.
inline constexpr std::string_view amino_acids = "KKNNRRSSTTTTIMIIEEDDGGGGAAAAVVVVQQHHRRRRPPPPLLLL**YY*WCCSSSSLLFF-";

struct Scores {
  int exact = 5, similar = 4, dissimilar = -3, gap_start = 5, gap_extend = 2;  // a gap of k costs start + k extend

  int of(Codon a, Codon b) const {
    return a == b && a != no_codon ? exact : amino_acids[a] == amino_acids[b] && a != b ? similar : dissimilar;
  }
  int gap(int length) const { return length > 0 ? gap_start + length * gap_extend : 0; }
  bool operator==(const Scores&) const = default;
};

enum class String : std::size_t { main, match };

inline constexpr std::size_t plants = 3, guard = 6;

// A planted pair of strings; the text includes plant 1's own guards.
struct Plant {
  std::array<std::string_view, 2> text;
  std::size_t own_guard;            // letters of the text before and after what aligns
  std::size_t exact, unlike, gaps;  // of the alignment: equal codons, dissimilar pairs, gaps of three codons

  std::size_t outside() const { return guard - own_guard; }  // guards before and after the text
  std::size_t extent() const { return text[0].size() + 2 * outside(); }
  int score(const Scores& scores) const {
    return static_cast<int>(exact) * scores.exact + static_cast<int>(unlike) * scores.dissimilar -
           static_cast<int>(gaps) * scores.gap(3);
  }
};
extern const std::array<Plant, plants> planted;  // 79 codons with their guards

std::uint64_t length_of(double scale);  // ceil(2^(scale/2)) + 79 codons, of either string

// Codons of both strings. The plants lie in opposite orders, so no alignment holds two of them.
class Maker {
 public:
  Maker(std::uint64_t seed, std::uint64_t length, std::uint64_t pair = 0);  // length >= 79
  std::uint64_t length() const { return length_; }
  Codon background(String string, std::uint64_t position) const;  // before planting
  Codon codon(String string, std::uint64_t position) const;
  std::uint64_t first(String string, std::size_t plant) const;  // position of the text's first letter
  std::uint64_t last_aligned(String string, std::size_t plant) const;

 private:
  Codon guarding(std::size_t plant, std::uint64_t position, bool before) const;  // of the match string

  std::uint64_t length_;
  std::array<std::uint64_t, 3> keys_;                       // main, match, replaced guards
  std::array<std::array<std::uint64_t, plants>, 2> first_;  // by string
};

struct Strings {
  std::vector<Codon> main, match;  // of equal length
};
Strings make_strings(const Maker& maker);

}  // namespace plumb::ssca1
