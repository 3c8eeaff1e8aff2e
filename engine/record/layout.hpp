// Text laid out for a terminal: columns, wrapped entries, numbers. Widths are of characters as shown, not of bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumb::layout {

inline constexpr std::size_t page_width = 118;

// Columns that UTF-8 text takes on a terminal: two for East Asian wide characters, none for combining marks.
std::size_t shown_width(std::string_view text);

// Text that cannot control a terminal or break a table: control characters become spaces.
std::string printable(std::string_view text);

// Four significant digits in ordinary notation ("0.0001234", "12.30", "12345"); scientific below 1e-4 and from 1e12.
std::string format_value(double value);
// "-" for none.
std::string format_value(std::optional<double> value);

// "1 case", "2 cases".
std::string counted(std::size_t number, const std::string& noun);
// {0, 1, 2, 5} -> "0-2, 5". Sorted input.
std::string ranges(const std::vector<std::size_t>& numbers);
// "a, b, c and 7 more" for more than `most`.
std::string enumerate(const std::vector<std::string>& names, std::size_t most);

struct Column {
  std::string heading;             // wrapped to about the width of the cells
  std::string unit;                // below the heading; empty = none
  bool right = true;               // aligned
  std::vector<std::string> cells;  // the same number in each column of a grid
};

// A heading, a rule, and one line per row of cells, two spaces between columns, one where the lines would be wider than
// a page. Lines end in '\n', without trailing spaces.
std::string grid(const std::vector<Column>& columns);

// A page of entries: name in a narrow left column, wrapped text beside it.
class Page {
 public:
  void line(const std::string& text);  // unchanged, but printable
  void blank();                        // never two in a row
  // Prints nothing for empty text. name_width: width of the name's column.
  void entry(const std::string& name, const std::string& text, std::size_t name_width = 12);
  void block(const std::string& lines);  // preformatted lines
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace plumb::layout
