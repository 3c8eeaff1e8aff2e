// The form `csv`: one row per case with the rest of the record repeated, so files of many runs can be concatenated and
// sorted. Columns: docs/record.md.
#pragma once

#include <string>

#include "core/json.hpp"

namespace plumb {

// expected: an expectation document or null (empty columns). The heading is printed even without cases.
std::string csv_form(const Json& record, const Json& expected);

}  // namespace plumb
