#include "record/forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "core/error.hpp"
#include "core/version.hpp"
#include "record/csv.hpp"
#include "record/emulated.hpp"
#include "record/lookup.hpp"
#include "record/table.hpp"

namespace plumb {

namespace {

// Contents of the file; throws UsageError with the system's reason.
std::string contents(const std::string& path) {
  const auto refuse = [&](int error) -> UsageError {
    return UsageError(fmt::format("cannot read {}: {}", path, std::strerror(error)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) throw refuse(errno);
  std::string text;
  char part[1 << 16];
  for (;;) {
    errno = 0;
    const std::size_t got = std::fread(part, 1, sizeof part, file.get());
    text.append(part, got);
    if (got == sizeof part) continue;
    if (std::ferror(file.get()) != 0) throw refuse(errno);
    return text;
  }
}

// "line 3, column 14" of the byte at `position` (1-based).
std::string place_in(const std::string& text, std::size_t position) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(position, text.size()));
  const auto lines = std::count(text.begin(), end, '\n');
  const std::size_t before = position == 0 ? std::string::npos : text.rfind('\n', std::min(position, text.size()) - 1);
  return fmt::format("line {}, column {}", lines + 1, before == std::string::npos ? position : position - before - 1);
}

// "1.4.2" -> 1; none for other text.
std::optional<int> major_version(const std::string& version) {
  int numbers[3] = {}, used = 0;
  const bool whole = std::sscanf(version.c_str(), "%5d.%5d.%5d%n", &numbers[0], &numbers[1], &numbers[2], &used) == 3 &&
                     static_cast<std::size_t>(used) == version.size();
  return whole ? std::optional(numbers[0]) : std::nullopt;
}

}  // namespace

std::string pretty(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<std::string> form_names() {
  std::vector<std::string> names{"table", "csv", "json"};
  for (const std::string& own : Registry<OwnForm>::instance().names()) names.push_back(own);
  return names;
}

std::vector<std::string> forms_of(const std::string& benchmark) {
  std::vector<std::string> forms = form_names();
  std::erase_if(forms, [&](const std::string& form) {
    const OwnForm* own = Registry<OwnForm>::instance().find(form);
    return own != nullptr && !own->is_for(benchmark);
  });
  return forms;
}

std::string write_form(const std::string& form, const Json& record, const Json& expected) {
  if (!expected.is_null() && !lookup::at(expected, "cases").is_object())
    throw UsageError("--expected must be a file with a table \"cases\" (docs/record.md shows its layout)");
  if (form == "table") return table_form(record, expected);
  if (form == "csv") return csv_form(record, expected);
  if (form == "json") return pretty(record);
  if (const OwnForm* own = Registry<OwnForm>::instance().find(form)) {
    const std::string benchmark = lookup::text(lookup::at(record, {"benchmark", "name"}), "?");
    if (own->is_for(benchmark)) return own->write(record);
    throw UsageError(fmt::format("form {} applies to {}, not to a record of {}", form, own->whose, benchmark));
  }
  throw UsageError(unknown_name("form", form, form_names()));
}

std::string unsaid(const std::string& form, const Json& record) {
  const OwnForm* own = Registry<OwnForm>::instance().find(form);
  const std::string sentence = lookup::text(lookup::at(record, "emulated"));
  if (own == nullptr || own->says_emulated || sentence.empty()) return "";
  return "emulated: " + sentence;
}

Json read_json(const std::string& path) {
  const std::string text = contents(path);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) throw UsageError(path + " is empty, not JSON");
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw UsageError(fmt::format("{} is not JSON: it cannot be read beyond {}", path, place_in(text, error.byte)));
  } catch (const Json::exception&) {  // a number beyond a double
    throw UsageError(path + " cannot be read: a number in it is out of range");
  }
}

Json read_record(const std::string& path) {
  Json record = read_json(path);
  const auto version = major_version(lookup::text(lookup::at(record, "schema_version")));
  if (!version || !lookup::at(record, "benchmark").is_object())
    throw UsageError(path + " is not a record: schema_version or benchmark is missing");
  if (*version > major_version(schema_version))
    throw UsageError(
        fmt::format("{} is a record of layout {}, but this program reads layouts up to {}: use a newer "
                    "Plumbline",
                    path, lookup::text(lookup::at(record, "schema_version")), schema_version));
  lift_emulated(record);
  return record;
}

}  // namespace plumb
