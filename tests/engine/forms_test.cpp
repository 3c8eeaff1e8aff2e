// The record's text forms: compared with golden files (PLUMBLINE_UPDATE_GOLDEN=1 writes them anew), and fed with
// records that lack parts, hold nulls, or hold anything at all in place of a part.
#include "record/forms.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "core/error.hpp"
#include "record/layout.hpp"
#include "record/lookup.hpp"

#ifndef PLUMBLINE_SOURCE_DIR
#error "PLUMBLINE_SOURCE_DIR names the repository's root, where tests/golden is"
#endif

namespace plumb {
namespace {

const std::filesystem::path golden_folder = std::filesystem::path(PLUMBLINE_SOURCE_DIR) / "tests" / "golden";

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Lines that differ, "-" golden and "+" now; lines that both have in order are left out (longest common subsequence).
std::string difference(const std::string& golden, const std::string& now) {
  const auto a = lines_of(golden), b = lines_of(now);
  std::vector<std::vector<std::size_t>> common(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::string result;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      ++i, ++j;
    } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      result += fmt::format("{:5} - {}\n", i + 1, a[i]);
      ++i;
    } else {
      result += fmt::format("{:5} + {}\n", j + 1, b[j]);
      ++j;
    }
  }
  return result;
}

void compare_with_golden(const std::string& name, const std::string& now) {
  const std::filesystem::path path = golden_folder / name;
  const char* update = std::getenv("PLUMBLINE_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(path, std::ios::binary) << now;
    return;
  }
  ASSERT_TRUE(std::filesystem::exists(path)) << path << " is missing; PLUMBLINE_UPDATE_GOLDEN=1 writes it";
  const std::string golden = file_text(path);
  EXPECT_TRUE(golden == now)
      << path << " (-) differs from what is written now (+):\n"
      << difference(golden, now)
      << "When the new text is right: run this test again with PLUMBLINE_UPDATE_GOLDEN=1 and look at "
         "the change in version control.";
}

Json golden_record(const std::string& name) {
  return read_record((golden_folder / (name + ".record.json")).string());
}

Json golden_expectation(const std::string& name) {
  const std::filesystem::path path = golden_folder / (name + ".expected.json");
  return std::filesystem::exists(path) ? Json::parse(file_text(path)) : Json(nullptr);
}

// A reader of RFC 4180, to read the output back.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& field = rows.back().back();
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      rows.back().emplace_back();
    } else if (!quoted && c == '\n') {
      rows.push_back({""});
    } else {
      field += c;
    }
  }
  rows.pop_back();
  return rows;
}

// A row of the csv form by column.
std::map<std::string, std::string> csv_row(const Json& record, std::size_t row, const Json& expected = nullptr) {
  const auto rows = parse_csv(write_form("csv", record, expected));
  std::map<std::string, std::string> result;
  for (std::size_t i = 0; i < rows.at(0).size(); ++i) result[rows[0][i]] = rows.at(row + 1).at(i);
  return result;
}

Json hpcc(const Json& record) {
  return Json::parse(write_form("hpcc-json", record, nullptr));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Forms : public ::testing::Test {
 protected:
};

class GoldenForms : public ::testing::TestWithParam<const char*> {
 protected:
};

TEST_P(GoldenForms, Table) {
  const std::string name = GetParam();
  compare_with_golden(name + ".table.txt", write_form("table", golden_record(name), golden_expectation(name)));
}

TEST_P(GoldenForms, Csv) {
  const std::string name = GetParam();
  compare_with_golden(name + ".csv", write_form("csv", golden_record(name), golden_expectation(name)));
}

TEST_P(GoldenForms, HpccJson) {
  const std::string name = GetParam();
  compare_with_golden(name + ".hpcc.json", write_form("hpcc-json", golden_record(name), nullptr));
}

TEST_P(GoldenForms, JsonIsTheRecordItself) {
  const Json record = golden_record(GetParam());
  EXPECT_EQ(Json::parse(write_form("json", record, nullptr)), record);
}

TEST_P(GoldenForms, TableFitsTheTerminal) {
  const std::string name = GetParam();
  for (const std::string& line : lines_of(write_form("table", golden_record(name), golden_expectation(name)))) {
    EXPECT_LE(layout::shown_width(line), 120u) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

TEST_P(GoldenForms, CsvIsRectangular) {
  const std::string name = GetParam();
  const Json record = golden_record(name);
  const auto rows = parse_csv(write_form("csv", record, golden_expectation(name)));
  ASSERT_EQ(rows.size(), record["cases"].size() + 1);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
}

INSTANTIATE_TEST_SUITE_P(Records, GoldenForms,
                         ::testing::Values("b_eff_2_passed", "b_eff_2_failed", "b_eff_2_killed", "b_eff_8_random",
                                           "ptrans_2"),
                         [](const auto& info) { return std::string(info.param); });

// --- hpl

TEST_F(Forms, HplsTableIsAsItWas) {
  compare_with_golden("hpl_2.table.txt", write_form("table", golden_record("hpl_2"), nullptr));
}

TEST_F(Forms, LinpacksJsonHasFactorisationAndSolvesApart) {
  const std::string text = write_form("hpcc-json", golden_record("hpl_2"), nullptr);
  compare_with_golden("hpl_2.hpcc.json", text);
  const Json form = Json::parse(text);
  const double lu = 2e9 / 3, solves = 2e6;  // n = 1000, as HPCC FPGA counts
  const auto value = [&](const char* name) { return form["results"][name]["value"].get<double>(); };
  EXPECT_NEAR(value("gflops_lu"), lu / value("tlu_min") / 1e9, 1e-9);
  EXPECT_NEAR(value("gflops_sl"), solves / value("tsl_min") / 1e9, 1e-9);
  EXPECT_NEAR(value("gflops"), (lu + solves) / value("t_min") / 1e9, 1e-9);
  EXPECT_EQ(form["timings"]["gefa"].size(), 3u);
  Json failed = golden_record("hpl_2");
  failed["cases"][0]["outcome"] = {{"status", "failed"}, {"reason", "wrong"}};
  EXPECT_TRUE(hpcc(failed)["results"]["gflops"]["value"].is_null());
}

// --- graph500

TEST_F(Forms, Graph500) {
  for (const std::string name : {"graph500_2", "graph500_paths_2"})
    compare_with_golden(name + ".graph500.txt", write_form("graph500", golden_record(name), nullptr));
}

TEST_F(Forms, Graph500OfAFailedRunHasNoResults) {
  Json record = golden_record("graph500_2");
  record["cases"][1]["outcome"]["status"] = "failed";
  EXPECT_EQ(write_form("graph500", record, nullptr), "No results printed for invalid run.\n");
  EXPECT_THROW(write_form("graph500", golden_record("b_eff_2_passed"), nullptr), UsageError);
}

// --- npb

// Of three forms: passed, failed, and of a size without official values.
TEST(NpbForm, IsAsItWas) {
  compare_with_golden("npb_is_2.npb.txt", write_form("npb", golden_record("npb_is_2"), nullptr));
}

// --- emulated times

// In each text whose layout has comments, and for stderr where it has none.
TEST(EmulatedForms, SayIt) {
  const std::map<std::string, std::string> by_record{
      {"npb_is_2", "npb"}, {"shoms_2", "shoms"}, {"osu_shmem_2", "osu"}, {"osu_2", "osu"}};
  for (const auto& [name, form] : by_record) {
    Json record = golden_record(name);
    EXPECT_EQ(write_form(form, record, nullptr).find("emulated"), std::string::npos) << name;
    record["emulated"] = "a board of paper";
    const auto lines = lines_of(write_form(form, record, nullptr));
    const auto count = [&](const std::string& begin) {
      return std::count_if(lines.begin(), lines.end(), [&](const auto& line) { return line.starts_with(begin); });
    };
    const char* head = form == "npb" ? " Class" : form == "shoms" ? "# Benchmarking" : "# OSU";
    EXPECT_GT(count(head), 0) << name;
    EXPECT_EQ(count("# emulated: a board of paper"), count(head)) << name;
    EXPECT_EQ(unsaid(form, record), "");
  }
  Json record = golden_record("graph500_2");
  const std::string text = write_form("graph500", record, nullptr);
  record["emulated"] = "a board of paper";
  EXPECT_EQ(write_form("graph500", record, nullptr), text);
  EXPECT_EQ(unsaid("graph500", record), "emulated: a board of paper");
  EXPECT_EQ(unsaid("graph500", golden_record("graph500_2")), "");
}

TEST(EmulatedForms, HpccJsonMarksFigures) {
  Json record = golden_record("b_eff_2_passed");
  EXPECT_EQ(write_form("hpcc-json", record, nullptr).find("mulate"), std::string::npos);
  record["emulated"] = "a board of paper";
  const Json shown = Json::parse(write_form("hpcc-json", record, nullptr));
  EXPECT_EQ(shown["emulated"], "a board of paper");
  EXPECT_EQ(shown["settings"]["Emulate"], true);
  EXPECT_EQ(shown["results"]["b_eff"]["emulated"], true);
  EXPECT_EQ(shown["timings"]["0"]["timings"][0]["timings"][0]["emulated"], true);
}

// Layouts before 1.4.0 have it in the transport, or in the devices' platforms alone.
TEST(EmulatedForms, OlderRecordsSayIt) {
  Json record = golden_record("b_eff_2_passed");
  record.erase("emulated");
  const auto read_back = [&] {
    const auto path = std::filesystem::temp_directory_path() / fmt::format("plumb-{}.json", std::random_device{}());
    std::ofstream(path) << record.dump();
    Json found = read_record(path.string());
    std::filesystem::remove(path);
    return found;
  };
  EXPECT_FALSE(read_back().contains("emulated"));
  record["transport"]["emulated"] = "a board of paper";
  record["ranks"][1]["device"]["platform"] = "Paper (Emulation)";
  const std::string device = record["ranks"][1]["device"]["name"];
  const Json found = read_back();
  EXPECT_EQ(found["emulated"], "a board of paper; " + device + " emulates a board (Paper (Emulation))");
  EXPECT_EQ(found["metrics"][0]["emulated"], true);
  EXPECT_NE(write_form("table", found, nullptr).find("(emulated)"), std::string::npos);
  record["emulated"] = nullptr;  // a newer layout knows better
  EXPECT_TRUE(read_back()["emulated"].is_null());
}

// --- shoms, osu

TEST(ColumnForms, ShomsIsAsItWas) {
  compare_with_golden("shoms_2.shoms.txt", write_form("shoms", golden_record("shoms_2"), nullptr));
}

TEST(ColumnForms, OsuIsAsItWas) {
  compare_with_golden("osu_shmem_2.osu.txt", write_form("osu", golden_record("osu_shmem_2"), nullptr));
}

// Of each kind of test a block, with the columns of -f, -c and -z.
TEST(ColumnForms, OsuOverMpiIsAsItWas) {
  compare_with_golden("osu_2.osu.txt", write_form("osu", golden_record("osu_2"), nullptr));
}

TEST(ColumnForms, OsuMpiWithoutOptionsIsAsItWas) {
  Json record = golden_record("osu_2");
  for (const char* option : {"full", "validation"}) record["parameters"][option] = false;
  record["parameters"]["tail-lat"] = "";
  compare_with_golden("osu_2_plain.osu.txt", write_form("osu", record, nullptr));
}

TEST(ColumnForms, ShomsTimesAreNanosecondsOfTheSamples) {
  Json record = golden_record("shoms_2");
  Json& put = record["cases"][0];
  put["count"] = 1000;
  put["repetitions"] = 3;
  put["summary"]["min_s"] = 40e-6;
  put["summary"]["mean_s"] = 50e-6;
  put["summary"]["max_s"] = 60e-6;
  for (Json& metric : put["metrics"])
    if (metric["name"] == "bandwidth") metric["value"] = 0.2;  // 8 B in 40 ns
  std::istringstream line(lines_of(write_form("shoms", record, nullptr))[5]);
  double bytes = 0, repetitions = 0, least = 0, most = 0, mean = 0, rate = 0;
  line >> bytes >> repetitions >> least >> most >> mean >> rate;
  EXPECT_EQ(repetitions, 3000);
  EXPECT_EQ(least, 40);
  EXPECT_EQ(most, 60);
  EXPECT_EQ(mean, 50);
  EXPECT_EQ(rate, 160);  // 8 B in 50 ns
}

TEST(ColumnForms, AreForTheirOwnRecords) {
  EXPECT_THROW(write_form("shoms", golden_record("b_eff_2_passed"), nullptr), UsageError);
  EXPECT_THROW(write_form("osu", golden_record("shoms_2"), nullptr), UsageError);
}

// --- hpcc-json

TEST_F(Forms, HpccSettingsHaveTheirTypes) {
  const Json form = hpcc(golden_record("b_eff_2_passed"));
  EXPECT_EQ(form["name"], "effective bandwidth");
  EXPECT_EQ(form["execution_time"], "Sat Nov 21 10:30:00 UTC 2026");
  EXPECT_EQ(form["validated"], true);
  EXPECT_EQ(form["mpi"], Json({{"version", 3}, {"subversion", 1}}));
  const Json& settings = form["settings"];
  EXPECT_EQ(settings["Communication Type"], "staged");
  EXPECT_TRUE(settings["Kernel File"].is_null());
  Json with_file = golden_record("b_eff_2_passed");
  with_file["measuring"]["kernel_file"] = "mine.cl";
  EXPECT_EQ(hpcc(with_file)["settings"]["Kernel File"], "mine.cl");
  EXPECT_EQ(settings["Kernel Replications"], 1);
  EXPECT_TRUE(settings["Loop Length"].is_number_integer());
  EXPECT_EQ(settings["MPI Ranks"], 2);
  EXPECT_EQ(settings["Message Sizes"], "2^0 - 2^20");
  EXPECT_EQ(settings["Repetitions"], 12);
  EXPECT_EQ(settings["Test Mode"], false);
}

TEST_F(Forms, HpccBandwidthFollowsThePredecessorsFormula) {
  Json record = golden_record("b_eff_2_passed");
  record["parameters"]["replications"] = 3;
  record["cases"] = Json::array({record["cases"][2]});  // 1024 B
  record["cases"][0]["count"] = 10;
  record["cases"][0]["samples"]["by_rank"] = {{4e-4, 2e-4, 3e-4}, {9e-4, 8e-4, 5e-4}};
  const Json form = hpcc(record);
  const Json& size = form["timings"]["10"];
  EXPECT_DOUBLE_EQ(size["maxMinCalculationTime"].get<double>(), 5e-4);  // the slowest rank's fastest repetition
  EXPECT_DOUBLE_EQ(size["maxCalcBW"].get<double>(), 2 * 3 * 1024 * 10 / 5e-4);
  EXPECT_EQ(form["results"]["b_eff"]["value"], size["maxCalcBW"]);
  EXPECT_EQ(size["timings"].size(), 2u);
  EXPECT_EQ(size["timings"][1]["looplength"], 10);
  EXPECT_EQ(size["timings"][1]["messageSize"], 10);
  EXPECT_EQ(size["timings"][1]["timings"][2], Json({{"unit", "s"}, {"value", 5e-4}}));
}

TEST_F(Forms, HpccEffectiveBandwidthIsTheMeanOverSizes) {
  const Json form = hpcc(golden_record("b_eff_8_random"));
  double sum = 0;
  for (const Json& size : form["timings"]) sum += size["maxCalcBW"].get<double>();
  EXPECT_EQ(form["timings"].size(), 6u);
  EXPECT_DOUBLE_EQ(form["results"]["b_eff"]["value"].get<double>(), sum / 6);
}

TEST_F(Forms, HpccWrongContentGivesNoBandwidth) {
  const Json form = hpcc(golden_record("b_eff_2_failed"));
  EXPECT_EQ(form["validated"], false);
  EXPECT_TRUE(form["results"]["b_eff"]["value"].is_null());
  EXPECT_TRUE(form["results"]["b_eff"]["reason"].is_string());
  EXPECT_EQ(form["errors"]["wrong_bytes"], 40);
  EXPECT_EQ(form["errors"]["10"], 40);
  EXPECT_EQ(form["errors"]["0"], 0);
  EXPECT_GT(form["errors"]["checked_bytes"], 0);
}

TEST_F(Forms, HpccTakesTheNaturalRingWhereThereAreTwo) {
  Json record = golden_record("b_eff_2_passed");
  Json random = golden_record("b_eff_8_random")["cases"];
  for (const Json& measured : random) record["cases"].push_back(measured);
  EXPECT_EQ(hpcc(record)["timings"].size(), 5u);
}

TEST_F(Forms, HpccUnvalidatedIsNotValidated) {
  Json record = golden_record("b_eff_2_passed");
  record["cases"][1]["validation"] = nullptr;
  EXPECT_EQ(hpcc(record)["validated"], false);
}

TEST_F(Forms, HpccIsRefusedForOtherBenchmarks) {
  Json record = golden_record("b_eff_2_passed");
  record["benchmark"]["name"] = "forms_test_no_hpcc";
  EXPECT_THROW(write_form("hpcc-json", record, nullptr), UsageError);
  record["benchmark"]["name"] = "nobody_wrote_this";
  EXPECT_THROW(write_form("hpcc-json", record, nullptr), UsageError);
}

// --- csv

TEST_F(Forms, CsvTimesAreOfOneCount) {
  const Json record = golden_record("b_eff_2_passed");
  const Json& measured = record["cases"][1];
  const double count = measured["count"].get<double>();
  const auto row = csv_row(record, 1);
  EXPECT_DOUBLE_EQ(std::stod(row.at("min_per_count_s")), measured["summary"]["min_s"].get<double>() / count);
  EXPECT_DOUBLE_EQ(std::stod(row.at("ci95_high_per_count_s")),
                   measured["summary"]["ci95_median_s"][1].get<double>() / count);
  EXPECT_EQ(row.at("message_bytes"), "16");
  EXPECT_EQ(row.at("expected_s"), "");
  EXPECT_TRUE(row.contains("bandwidth_per_rank_GB_per_s"));
}

TEST_F(Forms, CsvQuotesWhatNeedsIt) {
  Json record = golden_record("b_eff_2_passed");
  const std::string name = "GPU \"big\", rev. 2\nsecond line";
  for (Json& rank : record["ranks"]) rank["device"]["name"] = name;
  record["cases"][0]["labels"]["ring"] = "a,b";
  const auto row = csv_row(record, 0);
  EXPECT_EQ(row.at("device"), name);
  EXPECT_EQ(row.at("ring"), "a,b");
}

TEST_F(Forms, CsvLabelThatIsCalledLikeAColumn) {
  Json record = golden_record("b_eff_2_passed");
  record["cases"][0]["labels"]["count"] = "mine";
  const auto row = csv_row(record, 0);
  EXPECT_EQ(row.at("label_count"), "mine");
  EXPECT_EQ(row.at("count"), lookup::words(record["cases"][0]["count"]));
}

// --- table

TEST_F(Forms, NumbersHaveFourDigits) {
  using layout::format_value;
  EXPECT_EQ(format_value(0.0), "0");
  EXPECT_EQ(format_value(0.0001234), "0.0001234");
  EXPECT_EQ(format_value(1.0), "1.000");
  EXPECT_EQ(format_value(9.9996), "10.00");
  EXPECT_EQ(format_value(999.96), "1000");
  EXPECT_EQ(format_value(-12.3456), "-12.35");
  EXPECT_EQ(format_value(123456.7), "123457");
  EXPECT_EQ(format_value(0.00009418), "9.418e-05");
  EXPECT_EQ(format_value(1e-9), "1.000e-09");
  EXPECT_EQ(format_value(std::optional<double>()), "-");
}

TEST_F(Forms, RangesAndLists) {
  EXPECT_EQ(layout::ranges({0, 1, 2, 5, 7, 8}), "0-2, 5, 7-8");
  EXPECT_EQ(layout::ranges({}), "");
  EXPECT_EQ(layout::enumerate({"a", "b", "c"}, 2), "a, b and 1 more");
}

TEST_F(Forms, TableSaysThatARunDidNotFinish) {
  Json record = golden_record("b_eff_2_killed");
  EXPECT_TRUE(contains(write_form("table", record, nullptr), "did not finish"));
  EXPECT_TRUE(contains(write_form("table", record, nullptr), "3 of 21"));
  record["status"] = "aborted";
  record["reason"] = "rank 1 was killed";
  EXPECT_TRUE(contains(write_form("table", record, nullptr), "rank 1 was killed"));
  EXPECT_FALSE(contains(write_form("table", golden_record("b_eff_2_passed"), nullptr), "did not finish"));
}

// All columns of verdicts by parts, each with its longest values: 1 byte per 0.6 ms, times of seconds.
TEST_F(Forms, TableOfASlowLinkWithVerdictsFitsTheTerminal) {
  Json record = golden_record("b_eff_2_passed");
  Json expected{{"model", "m"}, {"system", "s"}, {"state", "said"}, {"promise", "said"}, {"cases", Json::object()}};
  for (Json& measured : record["cases"]) {
    measured["summary"]["ci95_median_s"] = nullptr;  // marked by "~"
    for (Json& metric : measured["metrics"]) metric["value"] = metric["unit"] == "us" ? 1234567.0 : 3.480e-6;
    expected["cases"][measured["key"].get<std::string>()] = {{"expected_s", 1.234567}, {"ratio", 123.45},
                                                             {"verdict", "ambiguous"}, {"state", "slower"},
                                                             {"promise", "slow"},      {"bound", "handover"}};
  }
  const auto lines = lines_of(write_form("table", record, expected));
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const auto& line) { return contains(line, "~3.480e-06"); }));
  for (const std::string& line : lines) EXPECT_LE(layout::shown_width(line), 120u) << line;
}

TEST_F(Forms, TableOfOneCaseStillSaysWhichItIs) {
  Json record = golden_record("b_eff_2_passed");
  record["cases"] = Json::array({record["cases"][2]});
  EXPECT_TRUE(contains(write_form("table", record, nullptr), "1 KiB"));
}

TEST_F(Forms, TableWithoutCases) {
  Json record = golden_record("b_eff_2_passed");
  record["cases"] = Json::array();
  EXPECT_TRUE(contains(write_form("table", record, nullptr), "no case was finished"));
  EXPECT_EQ(parse_csv(write_form("csv", record, nullptr)).size(), 1u);
  EXPECT_TRUE(hpcc(record)["results"]["b_eff"]["value"].is_null());
}

TEST_F(Forms, TableNamesTheSlowestRank) {
  Json record = golden_record("b_eff_2_passed");
  record["cases"][0]["metrics"].push_back({{"name", "rate_slowest_rank"},
                                           {"value", 3},
                                           {"unit", "GB/s"},
                                           {"convention", "rank 1, by its best repetition"},
                                           {"table", true}});
  const std::string key = record["cases"][0]["key"];
  EXPECT_NE(write_form("table", record, nullptr).find(key + ": rank 1, by its best repetition"), std::string::npos);
}

TEST_F(Forms, TableAlignsUnicodeAndIsNotSteeredByIt) {
  Json record = golden_record("b_eff_2_passed");
  const std::vector<std::string> rings{"natürlich", "環状", "na\u0301", "\x1b[31mred", "line\nbreak"};
  for (std::size_t i = 0; i < rings.size(); ++i) record["cases"][i]["labels"]["ring"] = rings[i];
  record["hosts"][0]["name"] = "knoten\x1b]0;title\x07";
  const std::string table = write_form("table", record, nullptr);
  EXPECT_FALSE(contains(table, "\x1b"));
  EXPECT_FALSE(contains(table, "\x07"));
  std::size_t column = 0, rows = 0;
  for (const std::string& line : lines_of(table)) {
    const std::size_t at = line.rfind("passed");
    if (at == std::string::npos || at + 6 != line.size()) continue;
    const std::size_t here = layout::shown_width(line.substr(0, at));
    if (rows++ == 0) column = here;
    EXPECT_EQ(here, column) << line;
  }
  EXPECT_EQ(rows, rings.size());
}

TEST_F(Forms, TableFoldsEqualDevicesAndHosts) {
  const std::string table = write_form("table", golden_record("b_eff_8_random"), nullptr);
  EXPECT_TRUE(contains(table, "all ranks: NVIDIA H200"));
  EXPECT_TRUE(contains(table, "devices 0-3"));
  EXPECT_TRUE(contains(table, "node1, node2: Intel"));
}

TEST_F(Forms, TextThatIsNotUtf8IsWrittenAllTheSame) {
  Json record = golden_record("b_eff_2_passed");
  record["hosts"][0]["name"] = "node\xff\xfe";
  record["ranks"][0]["device"]["name"] = "\xc3";
  for (const std::string& form : form_names()) {
    if (Registry<OwnForm>::instance().find(form) != nullptr && form != "hpcc-json") continue;
    EXPECT_FALSE(write_form(form, record, nullptr).empty()) << form;
  }
}

// --- missing or unusual parts

// Every place in a document, as JSON pointers; of long lists only the first and last elements.
void collect(const Json& value, const Json::json_pointer& here, std::vector<Json::json_pointer>& places) {
  if (!here.empty()) places.push_back(here);
  if (value.is_object())
    for (const auto& [key, member] : value.items()) collect(member, here / key, places);
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); i += i == 0 && value.size() > 2 ? value.size() - 1 : 1)
      collect(value[i], here / i, places);
}

// A record with something of everything, small enough to be broken in every place.
Json varied_record() {
  Json record = golden_record("b_eff_2_failed");
  const Json all = record["cases"];
  record["cases"] = Json::array({all[2], all[1], all[4]});  // odd metrics and warnings, failed, unsupported
  return record;
}

void write_all_forms(const Json& record, const Json& expected, const std::string& what) {
  for (const std::string& form : form_names()) {
    try {
      EXPECT_FALSE(write_form(form, record, expected).empty()) << form << ", " << what;
    } catch (const UsageError&) {
      EXPECT_TRUE(form == "hpcc-json" || form == "shoms" || form == "osu" || form == "graph500" || form == "npb")
          << what;  // these depend on the benchmark's name
    } catch (const std::exception& error) {
      ADD_FAILURE() << form << ", " << what << ": " << error.what();
    }
  }
}

TEST_F(Forms, AnyPartMayBeMissing) {
  const Json whole = varied_record();
  std::vector<Json::json_pointer> places;
  collect(whole, Json::json_pointer(), places);
  for (const auto& place : places) {
    if (!whole[place.parent_pointer()].is_object()) continue;
    Json record = whole;
    record[place.parent_pointer()].erase(place.back());
    write_all_forms(record, nullptr, "without " + place.to_string());
  }
}

TEST_F(Forms, AnyPartMayBeOfAnotherType) {
  const Json whole = varied_record();
  std::vector<Json::json_pointer> places;
  collect(whole, Json::json_pointer(), places);
  const std::vector<Json> others{
      nullptr, true, -1, 1e308, "text", Json::array(), Json::object(), Json::array({1, "a", nullptr})};
  std::mt19937 random(1);
  for (const auto& place : places) {
    Json record = whole;
    record[place] = others[random() % others.size()];
    write_all_forms(record, nullptr, place.to_string() + " = " + record[place].dump());
  }
}

TEST_F(Forms, AnyPartOfTheExpectationMayBeOdd) {
  const Json record = golden_record("b_eff_8_random"), whole = golden_expectation("b_eff_8_random");
  std::vector<Json::json_pointer> places;
  collect(whole, Json::json_pointer(), places);
  for (const auto& place : places) {
    if (place.to_string() == "/cases") continue;
    Json expected = whole;
    expected[place] = nullptr;
    write_all_forms(record, expected, place.to_string());
  }
  write_all_forms(record, {{"cases", Json::object()}}, "no case");
}

TEST_F(Forms, WhatIsNoExpectationIsRefused) {
  const Json record = golden_record("b_eff_2_passed");
  for (const Json& odd : {Json(1), Json("x"), Json::array(), Json::object(), record})
    EXPECT_THROW(write_form("table", record, odd), UsageError) << odd.type_name();
}

TEST_F(Forms, AlmostNothingIsEnough) {
  write_all_forms({{"schema_version", "1.0.0"}, {"benchmark", {{"name", "b_eff"}}}}, nullptr, "bare");
  write_all_forms(Json::object(), nullptr, "empty");
}

TEST_F(Forms, NullMetricsAreSaidWithTheirReason) {
  const std::string table = write_form("table", golden_record("b_eff_2_failed"), nullptr);
  EXPECT_TRUE(contains(table, "bandwidth_total: ranks differ in what they sent"));
  EXPECT_TRUE(contains(table, "none: it is the mean over 2^0..2^20 B"));
}

TEST_F(Forms, UnknownFormIsRefused) {
  try {
    write_form("tabel", golden_record("b_eff_2_passed"), nullptr);
    FAIL() << "no exception";
  } catch (const UsageError& error) {
    EXPECT_TRUE(contains(error.what(), "did you mean table")) << error.what();
  }
}

// --- read_record

class ReadRecord : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("plumb_forms_test_{}", std::random_device()());
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // The sentence with which a file of this content is refused; "" when it is read.
  std::string refusal(const std::string& content) {
    const std::filesystem::path path = folder_ / "x.json";
    std::ofstream(path, std::ios::binary) << content;
    return refusal_of(path.string());
  }
  static std::string refusal_of(const std::string& path) {
    try {
      read_record(path);
      return "";
    } catch (const UsageError& error) {
      EXPECT_FALSE(contains(error.what(), "\n")) << error.what();
      return error.what();
    }
  }

  std::filesystem::path folder_;
};

TEST_F(ReadRecord, WhatCannotBeRead) {
  EXPECT_TRUE(contains(refusal_of((folder_ / "absent.json").string()), "No such file or directory"));
  EXPECT_TRUE(contains(refusal_of(folder_.string()), "Is a directory"));
}

TEST_F(ReadRecord, WhatIsNotJson) {
  EXPECT_TRUE(contains(refusal(""), "empty"));
  EXPECT_TRUE(contains(refusal("hello"), "not JSON"));
  EXPECT_TRUE(contains(refusal("{\n \"a\": 1,\n \"b\": oops}"), "line 3, column 7"));
  EXPECT_TRUE(contains(refusal("{\"schema_version\": \"1.0.0\", \"benchmark\": {"), "not JSON"));
  EXPECT_TRUE(contains(refusal("{\"schema_version\": \"1.0.0\", \"x\": NaN}"), "not JSON"));
  EXPECT_TRUE(contains(refusal("[1e999]"), "out of range"));
  EXPECT_TRUE(contains(refusal(std::string("\0\xff\x7f", 3)), "not JSON"));
}

TEST_F(ReadRecord, WhatIsJsonButNoRecord) {
  for (const char* content :
       {"{}", "[]", "1", "null", "{\"schema_version\": 1, \"benchmark\": {}}", "{\"schema_version\": \"1.0.0\"}",
        "{\"schema_version\": \"one\", \"benchmark\": {}}", "{\"schema_version\": \"1.0.0\", \"benchmark\": 3}"})
    EXPECT_TRUE(contains(refusal(content), "is not a record")) << content;
}

TEST_F(ReadRecord, AnyJsonIsReadAsJson) {
  const std::filesystem::path path = folder_ / "x.json";
  std::ofstream(path) << "{\"cases\": {}}";
  EXPECT_EQ(read_json(path.string()), Json({{"cases", Json::object()}}));
  EXPECT_THROW(read_json((folder_ / "absent.json").string()), UsageError);
}

TEST_F(ReadRecord, NewerLayouts) {
  EXPECT_TRUE(contains(refusal("{\"schema_version\": \"2.0.0\", \"benchmark\": {}}"), "newer Plumbline"));
  EXPECT_EQ(refusal("{\"schema_version\": \"1.9.3\", \"benchmark\": {}}"), "");
}

}  // namespace
}  // namespace plumb
