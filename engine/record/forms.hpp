// The record's text forms. They use the record alone (and an optional expectation, see docs/record.md), so `plumb show`
// can print old records.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "core/registry.hpp"

namespace plumb {

// A text form of some benchmarks only: defined in their folder and registered under its name.
struct OwnForm {
  std::string whose;  // name of the benchmarks: "shoms"
  std::function<bool(const std::string& benchmark)> is_for;
  std::function<std::string(const Json& record)> write;
  bool says_emulated = true;  // of times that are of no board; false: the layout has no place for it
};
using RegisteredForm = Registered<OwnForm>;

// table, csv and json, valid for all records, then forms of some benchmarks.
std::vector<std::string> form_names();

// The forms valid for this benchmark, in the order of form_names().
std::vector<std::string> forms_of(const std::string& benchmark);

// expected: an expectation document or null. Throws UsageError if the form does not apply to the record.
std::string write_form(const std::string& form, const Json& record, const Json& expected);

// What a text in this form has no place for, for stderr: that its times are emulated. "" if there is nothing to say.
std::string unsaid(const std::string& form, const Json& record);

// JSON in the layout of files.
std::string pretty(const Json& document);

// Reads a record's file; throws UsageError if it is not a record or has an unsupported layout.
Json read_record(const std::string& path);

// Reads a JSON file; throws UsageError on failure.
Json read_json(const std::string& path);

}  // namespace plumb
