// The record's text forms. All work from the record alone (and an expectation beside it, see docs/record.md), so that
// `plumb show` prints the same months later.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "core/registry.hpp"

namespace plumb {

// A text form that only some benchmarks' records have; their folder has it, and registers it under its name.
struct OwnForm {
  std::string whose;  // "shoms"
  std::function<bool(const std::string& benchmark)> is_for;
  std::function<std::string(const Json& record)> write;
};
using RegisteredForm = Registered<OwnForm>;

// table, csv and json, which all records have, then those of some benchmarks.
std::vector<std::string> form_names();

// The forms that a record of this benchmark has, in the order of form_names().
std::vector<std::string> forms_of(const std::string& benchmark);

// expected: an expectation document or null. Throws UsageError when the record has no such form.
std::string write_form(const std::string& form, const Json& record, const Json& expected);

// JSON as files have it.
std::string pretty(const Json& document);

// Reads a record's file; throws UsageError with one sentence when it is no record or of a layout not known here.
Json read_record(const std::string& path);

// Reads a file of JSON; throws UsageError with one sentence when it cannot.
Json read_json(const std::string& path);

}  // namespace plumb
