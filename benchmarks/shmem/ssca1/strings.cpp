#include "benchmarks/shmem/ssca1/strings.hpp"

#include <algorithm>
#include <cmath>

#include "core/data.hpp"

namespace plumb::ssca1 {

namespace {

constexpr std::uint64_t planted_codons = 79;

// The last codon of a letter stands for it.
Codon codon_of(char letter) {
  return static_cast<Codon>(amino_acids.rfind(letter));
}

Codon random_codon(std::uint64_t key, std::uint64_t position) {
  return static_cast<Codon>(mix64(key + position) >> 58);
}

std::size_t index_of(String string) {
  return static_cast<std::size_t>(string);
}

}  // namespace

const std::array<Plant, plants> planted{{{{"ACDEFG*IDENTICAL*HIKLMN", "MNLKIH*IDENTICAL*GFEDCA"}, guard, 11, 0, 0},
                                         {{"*MISQRMATCHES*", "*MISRQMATCHES*"}, 0, 12, 2, 0},
                                         {{"*STARTGAPMIDSTEND*", "*STARTMIDSTGAPEND*"}, 0, 15, 0, 2}}};

std::uint64_t length_of(double scale) {
  return static_cast<std::uint64_t>(std::ceil(std::exp2(scale / 2))) + planted_codons;
}

Maker::Maker(std::uint64_t seed, std::uint64_t length, std::uint64_t pair) : length_(length) {
  for (std::size_t lane = 0; lane < keys_.size(); ++lane) keys_[lane] = Provenance{seed, 0, lane, 0, pair}.key();
  for (std::size_t string = 0; string < 2; ++string) {
    const std::uint64_t key = Provenance{seed, 1, string, 0, pair}.key();
    std::array<std::uint64_t, plants> at{};  // background codons before each plant, in the string's order
    for (std::size_t i = 0; i < plants; ++i) at[i] = mix64(key + i) % (length - planted_codons + 1);
    std::sort(at.begin(), at.end());
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < plants; ++i) {
      const std::size_t plant = string == 0 ? i : plants - 1 - i;
      first_[string][plant] = at[i] + before + planted[plant].outside();
      before += planted[plant].extent();
    }
  }
}

std::uint64_t Maker::first(String string, std::size_t plant) const {
  return first_[index_of(string)][plant];
}

std::uint64_t Maker::last_aligned(String string, std::size_t plant) const {
  return first(string, plant) + planted[plant].text[0].size() - planted[plant].own_guard - 1;
}

Codon Maker::background(String string, std::uint64_t position) const {
  return random_codon(keys_[index_of(string)], position);
}

Codon Maker::codon(String string, std::uint64_t position) const {
  for (std::size_t plant = 0; plant < plants; ++plant) {
    const std::string_view text = planted[plant].text[index_of(string)];
    const std::uint64_t begin = first(string, plant), end = begin + text.size(), outside = planted[plant].outside();
    if (position >= begin && position < end) return codon_of(text[position - begin]);
    if (string == String::match && position + outside >= begin && position < end + outside)
      return guarding(plant, position, position < begin);
  }
  return background(string, position);
}

// Dissimilar to all guards of the main string on the same side, so that no way through them scores.
Codon Maker::guarding(std::size_t plant, std::uint64_t position, bool before) const {
  const std::uint64_t from =
      before ? first(String::main, plant) - guard : first(String::main, plant) + planted[plant].text[0].size();
  Codon found = background(String::match, position);
  const auto scores = [&] {
    for (std::uint64_t i = from; i < from + guard; ++i)
      if (amino_acids[background(String::main, i)] == amino_acids[found]) return true;
    return false;
  };
  for (std::uint64_t trial = 0; scores(); ++trial) found = random_codon(mix64(keys_[2] ^ position), trial);
  return found;
}

Strings make_strings(const Maker& maker) {
  Strings strings{std::vector<Codon>(maker.length()), std::vector<Codon>(maker.length())};
  for (std::uint64_t i = 0; i < maker.length(); ++i) {
    strings.main[i] = maker.codon(String::main, i);
    strings.match[i] = maker.codon(String::match, i);
  }
  return strings;
}

}  // namespace plumb::ssca1
