#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace plumb {

std::string library_sentence(const std::string& action, const std::string& library, long code,
                             const std::string& code_name, const std::string& remedy) {
  std::string sentence = fmt::format("could not {}: {} returned {} ({})", action, library, code_name, code);
  if (!remedy.empty()) sentence += "; " + remedy;
  return sentence;
}

namespace {

// Truncates `text` at a UTF-8 character boundary and appends its length.
std::string beginning(const std::string& text, std::size_t length) {
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  return fmt::format("{}… ({} bytes)", text.substr(0, length), text.size());
}

}  // namespace

std::string shortened(const std::string& text) {
  constexpr std::size_t longest_word = 200, longest = 4000, kept = 60;
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    result += word.size() > longest_word ? beginning(word, kept) : word;
    if (end < text.size()) result += text[end];
    begin = end + 1;
  }
  return result.size() > longest ? beginning(result, longest / 2) : result;
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace plumb
