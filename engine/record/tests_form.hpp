// Common parts of the text forms of suites that print a block of lines per test (SHOMS, OSU), from the record alone;
// for tables of measure/operations.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.hpp"

namespace plumb::tests_form {

// Consecutive cases of one test.
struct TestBlock {
  std::string test;
  std::vector<const Json*> cases;
};
std::vector<TestBlock> blocks_of(const Json& record);

// Contents of the first column: operation or size.
std::string size_of(const Json& measured);

std::optional<double> metric(const Json& measured, const std::string& name);

// Reason for missing figures, as a comment; "" if none.
std::string excuse(const Json& measured);

}  // namespace plumb::tests_form
