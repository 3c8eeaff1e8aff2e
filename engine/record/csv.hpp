// The form `csv`: one row a case, everything else of the record repeated in it, so that files of many runs can be put
// together and sorted. Columns: docs/record.md.
#pragma once

#include <string>

#include "core/json.hpp"

namespace plumb {

// expected: an expectation document or null (its columns are then empty). The heading is there even without cases.
std::string csv_form(const Json& record, const Json& expected);

}  // namespace plumb
