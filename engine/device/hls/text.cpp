#include "device/hls/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "core/error.hpp"

namespace plumb::hls {

namespace {

// Words and single other characters; literals are single words that begin with a quote.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (text[at] == '"' || text[at] == '\'') {
      for (++at; at < text.size() && text[at] != text[begin]; ++at)
        if (text[at] == '\\') ++at;
      at = std::min(at + 1, text.size());
    } else if (is_word(text[at])) {
      while (at < text.size() && is_word(text[at])) ++at;
    } else {
      ++at;
      if (std::isspace(static_cast<unsigned char>(text[begin])) != 0) continue;
    }
    words.push_back(text.substr(begin, at - begin));
  }
  return words;
}

// Lines of one file; markers are '# 12 "file" flags'.
std::string lines_of(const std::string& preprocessed, const std::string& file) {
  const std::string own = fmt::format("\"{}\"", file);
  std::istringstream lines(preprocessed);
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# "))
      inside = line.find(own) != std::string::npos;
    else if (inside && !line.starts_with("#"))  // not #pragma
      text += line + "\n";
  }
  return text;
}

// Index after the bracket that closes the one at `at`.
std::size_t after_bracket(const std::vector<std::string>& words, std::size_t at, const char* open, const char* close) {
  int depth = 0;
  for (; at < words.size(); ++at) {
    if (words[at] == open) ++depth;
    if (words[at] == close && --depth == 0) return at + 1;
  }
  return at;
}

// The last word of each parameter before an array's brackets: "const float* restrict a[4]" -> "a".
std::vector<std::string> parameters_of(const std::vector<std::string>& words, std::size_t begin, std::size_t end) {
  std::vector<std::string> names;
  std::string last;
  int depth = 0;
  const auto take = [&] {
    if (!last.empty() && last != "void") names.push_back(last);
    last.clear();
  };
  for (std::size_t at = begin; at < end; ++at) {
    const std::string& word = words[at];
    if (word == "<" || word == "(" || word == "[") ++depth;
    if (word == ">" || word == ")" || word == "]") --depth;
    if (depth > 0) continue;
    if (word == ",")
      take();
    else if (std::isalpha(static_cast<unsigned char>(word[0])) != 0 || word[0] == '_')
      last = word;
  }
  take();
  return names;
}

// Reads definitions "void NAME(...) {" among words from `at`; stops after one, or at the end of a linkage block.
class Reader {
 public:
  explicit Reader(const std::string& text) : words_(words_of(text)) {}

  std::vector<Declared> read() {
    while (at_ < words_.size()) {
      if (word(0) == "extern" && word(1) == "\"C\"") {
        at_ += 2;
        if (word(0) == "{")
          block();
        else
          definition();
      } else if (word(0) == "{") {
        at_ = after_bracket(words_, at_, "{", "}");
      } else {
        ++at_;
      }
    }
    return std::move(found_);
  }

 private:
  std::string word(std::size_t ahead) const { return at_ + ahead < words_.size() ? words_[at_ + ahead] : ""; }

  void block() {
    for (++at_; at_ < words_.size() && word(0) != "}";)
      if (word(0) == "{")
        at_ = after_bracket(words_, at_, "{", "}");
      else
        definition();
    ++at_;
  }

  // At most to the end of the next declaration.
  void definition() {
    for (; at_ < words_.size() && word(0) != ";" && word(0) != "{" && word(0) != "}"; ++at_) {
      if (word(1) != "(" || at_ == 0 || words_[at_ - 1] != "void") continue;
      const std::string name = word(0);
      const std::size_t begin = at_ + 2, end = after_bracket(words_, at_ + 1, "(", ")");
      at_ = end;
      if (word(0) != "{") return;
      add({name, parameters_of(words_, begin, end - 1)});
      return;
    }
    if (word(0) == ";") ++at_;
  }

  void add(Declared kernel) {
    for (const Declared& other : found_)
      if (other.name == kernel.name) throw Error(fmt::format("kernel {} is defined twice", kernel.name));
    found_.push_back(std::move(kernel));
  }

  std::vector<std::string> words_;
  std::size_t at_ = 0;
  std::vector<Declared> found_;
};

}  // namespace

std::vector<Declared> kernels_in(const std::string& preprocessed, const std::string& file) {
  return Reader(lines_of(preprocessed, file)).read();
}

}  // namespace plumb::hls
