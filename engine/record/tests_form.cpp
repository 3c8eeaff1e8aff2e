#include "record/tests_form.hpp"

#include <fmt/format.h>

#include "record/lookup.hpp"

namespace plumb::tests_form {

using lookup::at;
using lookup::list;
using lookup::text;

std::vector<TestBlock> blocks_of(const Json& record) {
  std::vector<TestBlock> blocks;
  std::string last;
  for (const Json& measured : list(at(record, "cases"))) {
    const std::string group = text(at(measured, "group"));
    if (blocks.empty() || group != last) blocks.push_back({text(at(measured, {"labels", "test"}), group), {}});
    last = group;
    blocks.back().cases.push_back(&measured);
  }
  return blocks;
}

std::string size_of(const Json& measured) {
  const std::string operation = text(at(measured, {"labels", "operation"}));
  if (!operation.empty()) return operation;
  const auto bytes = lookup::count(at(measured, {"labels", "bytes"}));
  return bytes ? std::to_string(*bytes) : "N/A";
}

std::optional<double> metric(const Json& measured, const std::string& name) {
  for (const Json& one : list(at(measured, "metrics")))
    if (text(at(one, "name")) == name) return lookup::number(at(one, "value"));
  return std::nullopt;
}

std::string excuse(const Json& measured) {
  const std::string status = text(at(measured, {"outcome", "status"}), "?");
  if (at(measured, "summary").is_object() && (status == "passed" || status == "skipped")) return "";
  return fmt::format("# {}: {}: {}\n", size_of(measured), status, text(at(measured, {"outcome", "reason"})));
}

}  // namespace plumb::tests_form
