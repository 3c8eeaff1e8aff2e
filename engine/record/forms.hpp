// The record's text forms. All work from the record alone (and an expectation beside it, see docs/record.md), so that
// `plumb show` prints the same months later.
#pragma once

#include <string>
#include <vector>

#include "core/json.hpp"

namespace plumb {

// Known forms: table, csv, hpcc-json, json, shoms, osu.
const std::vector<std::string>& form_names();

// The only benchmark that a form is for; "" when it is for several.
std::string benchmark_of_form(const std::string& form);

// The forms that a record of this benchmark has, in the order of form_names().
std::vector<std::string> forms_of(const std::string& benchmark);

// expected: an expectation document or null. Throws UsageError when the record has no such form.
std::string write_form(const std::string& form, const Json& record, const Json& expected);

// Reads a record's file; throws UsageError with one sentence when it is no record or of a layout not known here.
Json read_record(const std::string& path);

// Reads a file of JSON; throws UsageError with one sentence when it cannot.
Json read_json(const std::string& path);

}  // namespace plumb
