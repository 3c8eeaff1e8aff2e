#include "benchmarks/hpcc/common/hpcc_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "record/emulated.hpp"
#include "record/forms.hpp"
#include "record/lookup.hpp"

namespace plumb {

using lookup::at;
using lookup::list;
using lookup::text;

namespace {

// "2022-12-14T09:56:29Z" -> "Wed Dec 14 09:56:29 UTC 2022", independent of locale.
Json unix_date(const Json& value) {
  using namespace std::chrono;
  static constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto when = lookup::moment(value);
  if (!when) return nullptr;
  const sys_days day = floor<std::chrono::days>(*when);
  const year_month_day date{day};
  const hh_mm_ss time{*when - day};
  return fmt::format("{} {} {:02} {:02}:{:02}:{:02} UTC {}", days[weekday{day}.c_encoding()],
                     months[static_cast<unsigned>(date.month()) - 1], static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count(),
                     static_cast<int>(date.year()));
}

Json commit_of(const Json& program) {
  const std::string commit = text(at(program, "commit"));
  if (commit.empty()) return nullptr;
  const Json& dirty = at(program, "dirty");
  return dirty.is_boolean() && dirty.get<bool>() ? commit + "-dirty" : commit;
}

Json joined_or_null(const std::vector<std::string>& names) {
  std::string result;
  for (const std::string& name : names) result += (result.empty() ? "" : ", ") + name;
  return result.empty() ? Json(nullptr) : Json(result);
}

// Whether every measured case was validated and right. False without cases.
bool validated(const Json& record) {
  std::size_t right = 0;
  for (const Json& measured : list(at(record, "cases"))) {
    const std::string status = text(at(measured, {"outcome", "status"}));
    const bool was_measured = at(measured, "summary").is_object();
    if (!was_measured && (status == "unsupported" || status == "skipped")) continue;
    if (status != "passed" || at(measured, {"validation", "performed"}) != Json(true)) return false;
    ++right;
  }
  return right > 0;
}

// "MPI 3.1" -> {version: 3, subversion: 1}; null without MPI, where HPCC FPGA omits the key.
Json mpi_version(const Json& record) {
  int version = 0, subversion = 0;
  if (std::sscanf(text(at(record, {"world", "standard"})).c_str(), "MPI %d.%d", &version, &subversion) != 2)
    return nullptr;
  return {{"version", version}, {"subversion", subversion}};
}

// HPCC FPGA repeats every case equally often. With adaptive repetitions this is the maximum; each list of timings has
// its own length.
Json repetitions(const Json& record) {
  std::uint64_t most = 0;
  for (const Json& measured : list(at(record, "cases")))
    most = std::max(most, lookup::count(at(measured, "repetitions")).value_or(0));
  return most;
}

bool test_mode(const Json& record) {
  for (const Json& word : list(at(record, "command")))
    if (text(word) == "--test") return true;
  return false;
}

Json common_settings(const Json& record) {
  const Json& parameters = at(record, "parameters");
  return {{"Communication Type", at(record, {"transport", "name"})},
          {"Kernel File", at(record, {"measuring", "kernel_file"})},
          {"Kernel Replications", lookup::count(at(parameters, "replications")).value_or(1)},
          {"MPI Ranks", at(record, {"world", "ranks"})},
          {"Repetitions", repetitions(record)},
          {"Test Mode", test_mode(record)}};
}

// HPCC FPGA has the setting for HPL alone.
void say_emulated(const Json& record, Json& document) {
  if (!at(record, "emulated").is_string()) return;
  document["emulated"] = at(record, "emulated");
  document["settings"]["Emulate"] = true;
  for (const char* part : {"results", "timings"}) mark_emulated(document[part]);
}

std::string hpcc_form(const Json& record) {
  if (at(record, {"measuring", "active_ranks"}).is_number())
    throw UsageError("form hpcc-json requires runs without idle ranks, as HPCC FPGA has no others");
  const Json parts = (*Registry<HpccParts>::instance().find(text(at(record, {"benchmark", "name"}))))(record);
  const Json& program = at(record, "program");
  Json settings = common_settings(record);
  settings.update(lookup::table(at(parts, "settings")));
  Json document{{"name", parts.value("name", text(at(record, {"benchmark", "title"})))},
                {"version", at(program, "version")},
                {"git_commit", commit_of(program)},
                {"config_time", nullptr},
                {"execution_time", unix_date(at(record, "started"))},
                {"device", joined_or_null(lookup::device_names(record))},
                {"validated", validated(record)}};
  if (Json mpi = mpi_version(record); !mpi.is_null()) document["mpi"] = std::move(mpi);
  document["environment"] = lookup::table(at(record, "environment"));
  for (const char* part : {"results", "timings", "errors"}) document[part] = lookup::table(at(parts, part));
  document["settings"] = std::move(settings);
  say_emulated(record, document);
  return pretty(document);
}

const RegisteredForm registered_hpcc_form("hpcc-json", {"the benchmarks of HPCC FPGA",
                                                        [](const std::string& benchmark) {
                                                          return Registry<HpccParts>::instance().find(benchmark) !=
                                                                 nullptr;
                                                        },
                                                        hpcc_form});

}  // namespace

Json quantity(const char* unit, double value) {
  return {{"unit", unit}, {"value", finite_or_null(value)}};
}

}  // namespace plumb
