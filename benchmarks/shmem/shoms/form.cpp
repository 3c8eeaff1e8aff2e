// The form `shoms`: the columns that SHOMS prints, a block for each test, for scripts that read those:
//   #bytes #repetitions t_min[nsec] t_max[nsec] t_avg[nsec] Bw_aggregated[MB/sec]
// Times are nanoseconds per operation, 1 MB is 1e6 bytes, N/A for operations without data (SHOMS multiplies by its
// clock's GHz where it should divide).
#include <fmt/format.h>

#include "record/emulated.hpp"
#include "record/forms.hpp"
#include "record/lookup.hpp"
#include "record/tests_form.hpp"

namespace plumb::shoms {

using lookup::at;
using lookup::text;
using namespace tests_form;

namespace {

std::string shoms_line(const Json& measured) {
  if (std::string reason = excuse(measured); !reason.empty()) return reason;
  constexpr double nano = 1e-9;
  const auto seconds = [&](const char* member) { return lookup::seconds_per_count(measured, member).value_or(0); };
  const auto operations =
      lookup::count(at(measured, "count")).value_or(1) * lookup::count(at(measured, "repetitions")).value_or(0);
  // The record's rate is of the best repetition, SHOMS' of the average.
  std::string rate = "N/A";
  if (const auto best = metric(measured, "bandwidth"); best && seconds("mean_s") > 0)
    rate = fmt::format("{:.2f}", *best * 1e3 * seconds("min_s") / seconds("mean_s"));
  return fmt::format("{:>12} {:>14} {:>16.2f} {:>16.2f} {:>16.2f} {:>22}\n", size_of(measured), operations,
                     seconds("min_s") / nano, seconds("max_s") / nano, seconds("mean_s") / nano, rate);
}

std::string shoms_form(const Json& record) {
  const std::string rule(96, '-');
  std::string result;
  for (const TestBlock& block : blocks_of(record)) {
    result += fmt::format("#{}\n# Benchmarking {}\n# #processes = {}\n", rule, block.test,
                          lookup::words(at(record, {"world", "ranks"})));
    const Json& labels = at(*block.cases.front(), "labels");
    if (at(labels, "core_0").is_number())
      result +=
          fmt::format("# cores = {} {}\n", lookup::words(at(labels, "core_0")), lookup::words(at(labels, "core_1")));
    result += emulated_comment(record);
    result += fmt::format("#{}\n{:>12} {:>14} {:>16} {:>16} {:>16} {:>22}\n", rule, "#bytes", "#repetitions",
                          "t_min[nsec]", "t_max[nsec]", "t_avg[nsec]", "Bw_aggregated[MB/sec]");
    for (const Json* measured : block.cases) result += shoms_line(*measured);
    result += "\n";
  }
  return result;
}

const RegisteredForm registered_form("shoms",
                                     {"shoms", [](const std::string& benchmark) { return benchmark == "shoms"; },
                                      shoms_form});

}  // namespace

}  // namespace plumb::shoms
