// What the text forms of suites have in common that print a block of lines for each test (SHOMS, OSU). From the record
// alone; for measure/operations.hpp's tables.
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

// What the first column names: an operation, or a size.
std::string size_of(const Json& measured);

std::optional<double> metric(const Json& measured, const std::string& name);

// Why there are no figures, as a comment; "" where there are.
std::string excuse(const Json& measured);

}  // namespace plumb::tests_form
