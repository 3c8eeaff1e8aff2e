// The form `table`, for terminals. Head (environment and rules), one line per case, aggregates, warnings, outcome.
// Columns follow from the record: labels, count, repetitions, metrics marked for the table, expectation, outcome.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "record/layout.hpp"

namespace plumb {

// expected: an expectation document or null.
std::string table_form(const Json& record, const Json& expected);

namespace table_parts {

// Labels of all cases in order: varying ones become columns, constant ones go into the head.
struct Labels {
  std::vector<std::string> varying;
  std::vector<std::pair<std::string, Json>> constant;
};
Labels split_labels(const Json& record);
// "message_bytes", 1024 -> "message", "1 KiB".
std::string label_heading(const std::string& name);
std::string label_value(const std::string& name, const Json& value);

void write_head(layout::Page& page, const Json& record);
// The case table with its footnotes, and the reasons of cases that did not pass.
void write_cases(layout::Page& page, const Json& record, const Json& expected);

}  // namespace table_parts

}  // namespace plumb
