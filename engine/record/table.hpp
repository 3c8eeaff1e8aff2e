// The form `table`: what a person reads in a terminal. Head (what ran where), one line a case, aggregates, doubts, how
// it ended. Columns follow from the record: labels, count, repetitions, metrics marked for the table, expectation,
// outcome.
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

// The labels of all cases in order: those that vary are columns, those that do not stand in the head.
struct Labels {
  std::vector<std::string> varying;
  std::vector<std::pair<std::string, Json>> constant;
};
Labels split_labels(const Json& record);
// "message_bytes", 1024 -> "message", "1 KiB".
std::string label_heading(const std::string& name);
std::string label_value(const std::string& name, const Json& value);

void write_head(layout::Page& page, const Json& record);
// The case table with its footnotes, and the cases that did not pass with their reasons.
void write_cases(layout::Page& page, const Json& record, const Json& expected);

}  // namespace table_parts

}  // namespace plumb
