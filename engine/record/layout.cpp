#include "record/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace plumb::layout {

namespace {

struct CodeRange {
  char32_t first, last;
};

constexpr std::array<CodeRange, 2> combining{{{0x0300, 0x036F}, {0x200B, 0x200F}}};
constexpr std::array<CodeRange, 8> wide{{{0x1100, 0x115F},
                                         {0x2E80, 0xA4CF},
                                         {0xAC00, 0xD7A3},
                                         {0xF900, 0xFAFF},
                                         {0xFE30, 0xFE6F},
                                         {0xFF00, 0xFF60},
                                         {0x1F300, 0x1FAFF},
                                         {0x20000, 0x3FFFD}}};

template <class Ranges>
bool in(const Ranges& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const CodeRange& r) { return r.first <= code && code <= r.last; });
}

struct Decoded {
  char32_t code;
  std::size_t bytes;
};

// The character at `text[from]`; an invalid byte counts as one character.
Decoded decode(std::string_view text, std::size_t from) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(from);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  if (length == 1 || from + length > text.size()) return {lead, 1};
  char32_t code = lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(from + i) & 0xC0) != 0x80) return {lead, 1};
    code = (code << 6) | (byte(from + i) & 0x3Fu);
  }
  return {code, length};
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, ""));
    }
  }
  return words;
}

// Lines of at most `width`, broken between words; a longer word gets a line of its own.
std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string& word : split_words(text)) {
    if (!lines.empty() && shown_width(lines.back()) + 1 + shown_width(word) <= width)
      lines.back() += " " + word;
    else
      lines.push_back(word);
  }
  return lines;
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::size_t shown = shown_width(text);
  const std::string space(width > shown ? width - shown : 0, ' ');
  return right ? space + text : text + space;
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::size_t widest(const std::vector<std::string>& texts) {
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, shown_width(text));
  return width;
}

// A column with its wrapped heading and its width.
struct Ready {
  const Column* column;
  std::vector<std::string> heading;
  std::size_t width;
};

Ready make_ready(const Column& column) {
  constexpr std::size_t narrowest = 9;
  const std::size_t cells = widest(column.cells);
  Ready ready{&column, wrap(column.heading, std::max(narrowest, cells)), cells};
  if (!column.unit.empty()) ready.heading.push_back(column.unit);
  ready.width = std::max(cells, widest(ready.heading));
  return ready;
}

}  // namespace

std::size_t shown_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size();) {
    const Decoded next = decode(text, i);
    width += in(combining, next.code) ? 0 : in(wide, next.code) ? 2 : 1;
    i += next.bytes;
  }
  return width;
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const Decoded next = decode(text, i);
    const bool stray = next.bytes == 1 && next.code >= 0x80;  // not UTF-8
    const bool control = next.code < 0x20 || (next.code >= 0x7F && next.code < 0xA0 && !stray);
    if (stray)
      result += '?';
    else if (control)
      result += ' ';
    else
      result += text.substr(i, next.bytes);
    i += next.bytes;
  }
  return result;
}

std::string format_value(double value) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  std::string scientific = fmt::format("{:.3e}", value);
  const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  if (exponent < -4 || exponent >= 12) return scientific;
  return fmt::format("{:.{}f}", value, std::max(0, 3 - exponent));
}

std::string format_value(std::optional<double> value) {
  return value ? format_value(*value) : "-";
}

std::string counted(std::size_t number, const std::string& noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string ranges(const std::vector<std::size_t>& numbers) {
  std::string result;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!result.empty()) result += ", ";
    result += last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return result;
}

std::string enumerate(const std::vector<std::string>& names, std::size_t most) {
  const std::size_t named = names.size() > most ? most : names.size();
  std::string result;
  for (std::size_t i = 0; i < named; ++i) result += (i == 0 ? "" : ", ") + names[i];
  if (named < names.size()) result += fmt::format(" and {} more", names.size() - named);
  return result;
}

std::string grid(const std::vector<Column>& columns) {
  std::vector<Ready> ready;
  std::size_t heading_lines = 0;
  for (const Column& column : columns) {
    ready.push_back(make_ready(column));
    heading_lines = std::max(heading_lines, ready.back().heading.size());
  }
  std::size_t width = 0;
  for (const Ready& r : ready) width += 2 + r.width;
  const std::string gap(width > page_width + 2 ? 1 : 2, ' ');
  const auto row = [&](const auto& cell) {
    std::string line = "  ";
    for (const Ready& r : ready) line += (&r == ready.data() ? "" : gap) + padded(cell(r), r.width, r.column->right);
    return trimmed(line);
  };
  std::string text;
  for (std::size_t i = 0; i < heading_lines; ++i)
    text += row([&](const Ready& r) {
      const std::size_t above = heading_lines - r.heading.size();  // headings are aligned at the bottom
      return i < above ? std::string() : r.heading[i - above];
    });
  text += row([](const Ready& r) { return std::string(r.width, '-'); });
  const std::size_t rows = columns.empty() ? 0 : columns.front().cells.size();
  for (std::size_t i = 0; i < rows; ++i) text += row([&](const Ready& r) { return r.column->cells[i]; });
  return text;
}

void Page::line(const std::string& text) {
  text_ += trimmed(printable(text));
}

void Page::blank() {
  if (!text_.ends_with("\n\n")) text_ += "\n";
}

void Page::entry(const std::string& name, const std::string& text, std::size_t name_width) {
  std::string left = padded(printable(name) + " ", name_width, false);
  for (const std::string& part : wrap(printable(text), page_width - 2 - name_width)) {
    text_ += trimmed("  " + left + part);
    left.assign(name_width, ' ');
  }
}

void Page::block(const std::string& lines) {
  text_ += lines;
}

}  // namespace plumb::layout
