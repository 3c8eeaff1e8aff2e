// Parts of a run: how they are named, the queues that they use, and how verdicts by them are shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <thread>

#include "device/select.hpp"
#include "measure/case_run.hpp"
#include "measure/host.hpp"
#include "measure/parts.hpp"
#include "record/forms.hpp"

namespace plumb {
namespace {

TEST(Parts, AreBenchmarksWithTheirOptions) {
  const auto parts = parse_parts("ceilings only=launch,memory size=24; links ring=random sizes=1,1024 ;");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].benchmark->name(), "ceilings");
  EXPECT_EQ(parts[0].benchmark->find("size")->value_json(), Json(24));
  const std::vector<Group> groups = parts[1].benchmark->groups({0, 2, 1});
  ASSERT_EQ(groups.size(), 1u);
  ASSERT_EQ(groups[0].cases.size(), 2u);
  EXPECT_EQ(groups[0].cases[1].key, "random/relay/1024");
  EXPECT_TRUE(parse_parts("").empty());
}

TEST(Parts, AreWithinTheCasesThatAreNamed) {
  const auto parts = parse_parts("ceilings only=memory/copy size=12 within=copy,float/8; ceilings only=launch/row");
  EXPECT_THAT(parts[0].within, testing::ElementsAre("copy", "float/8"));
  EXPECT_THAT(parts[1].within, testing::IsEmpty());
  EXPECT_EQ(parts[0].benchmark->find("size")->value_json(), Json(12));
}

TEST(Parts, RefusesWhatIsNone) {
  EXPECT_THROW(parse_parts("nothing"), UsageError);
  EXPECT_THROW(parse_parts("b_eff"), UsageError);  // runs the transport that is judged
  EXPECT_THROW(parse_parts("ceilings colour=1"), UsageError);
  EXPECT_THROW(parse_parts("ceilings size"), UsageError);
  EXPECT_THROW(parse_parts("ceilings size=100"), UsageError);
  const auto parts = parse_parts("links sizes=1,x");
  EXPECT_THROW(parts[0].benchmark->check({0, 2, 1}), UsageError);
}

TEST(Links, BesideAllCasesHaveNoLabelOfASize) {
  const auto parts = parse_parts("links beside=all sizes=4096; links sizes=4096");
  const Json all = parts[0].benchmark->groups({0, 2, 1})[0].cases[0].labels,
             own = parts[1].benchmark->groups({0, 2, 1})[0].cases[0].labels;
  EXPECT_FALSE(all.contains("message_bytes"));
  EXPECT_FALSE(all.contains("ring"));
  EXPECT_EQ(own["message_bytes"], Json(4096));
}

CaseRecord measured_with(std::vector<std::vector<double>> by_rank) {
  CaseRecord record;
  record.global = by_rank[0];
  record.by_rank = std::move(by_rank);
  return record;
}

TEST(Measurements, OfOneCaseAreTakenTogether) {
  CaseRecord record = measured_with({{1, 2}, {3, 4}}), more = measured_with({{5}, {6}});
  record.late_starts = 1;
  more.late_starts = 2;
  more.paused_by_rank = {{0.5}, {0.25}};
  more.waited_share = 0.25;
  record.tallies_by_rank["x"] = {1, 2};
  more.tallies_by_rank["x"] = {3, 4};
  record.tallies["x"] = 3;
  more.tallies["x"] = 7;
  add_measurement(record, more);
  EXPECT_EQ(record.by_rank, (std::vector<std::vector<double>>{{1, 2, 5}, {3, 4, 6}}));
  EXPECT_EQ(record.global, (std::vector<double>{1, 2, 5}));
  EXPECT_EQ(record.paused_by_rank, (std::vector<std::vector<double>>{{0, 0, 0.5}, {0, 0, 0.25}}));
  EXPECT_TRUE(record.device_by_rank.empty());
  EXPECT_EQ(record.tallies_by_rank["x"], (std::vector<double>{4, 6}));
  EXPECT_EQ(record.tallies["x"], 10);
  EXPECT_EQ(record.late_starts, 3u);
  EXPECT_EQ(record.facts["waited_share"], Json(0.25));
  CaseRecord wrong = measured_with({{1}, {1}});
  wrong.outcome = {"failed", "byte 3 is wrong"};
  add_measurement(record, wrong);
  EXPECT_EQ(record.outcome.status, "failed");
  EXPECT_EQ(record.global.size(), 3u);
}

TEST(Waits, AreOfTheThreadThatWaitedLongest) {
  const std::map<int, double> begin{{1, 2.0}, {2, 5.0}}, end{{1, 2.5}, {2, 5.1}, {3, 0.2}};
  EXPECT_DOUBLE_EQ(longest_wait(begin, end, 2), 0.25);
  EXPECT_DOUBLE_EQ(longest_wait(begin, begin, 2), 0);
  EXPECT_DOUBLE_EQ(longest_wait({}, end, 1), 1);
  EXPECT_DOUBLE_EQ(longest_wait(begin, end, 0), 0);
  EXPECT_LE(waited_for_cores().size(), 1000u);
}

// Bytes to a device, within it, and back, on queues of the runtime's own calls.
void moves_bytes(Device& device) {
  std::vector<std::byte> sent(5000), received(sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 7);
  const auto from = device.allocate(sent.size(), {}), to = device.allocate(sent.size(), {});
  const auto queue = device.make_bare_queue();
  queue->write(sent.data(), whole(*from));
  queue->enqueue_copy(whole(*from), whole(*to));
  queue->finish();
  queue->enqueue_read(whole(*to), received.data());
  while (!queue->finished()) std::this_thread::yield();
  EXPECT_EQ(sent, received);
}

// Counts the programs built on a device.
class CountingDevice : public Device {
 public:
  explicit CountingDevice(Device& real) : real_(real) {}
  const DeviceInfo& info() const override { return real_.info(); }
  std::unique_ptr<Buffer> allocate(std::size_t bytes, const Placement& p) override { return real_.allocate(bytes, p); }
  std::unique_ptr<Queue> make_queue(bool timed) override { return real_.make_queue(timed); }
  std::unique_ptr<Program> build(const KernelSource& source) override {
    ++built;
    return real_.build(source);
  }
  int built = 0;

 private:
  Device& real_;
};

TEST(BareDevice, BuildsAProgramOnce) {
  const DeviceCatalogue catalogue;
  const auto native = catalogue.open(catalogue.choose({"native", "", "", "native"}, 0, 1, 0));
  CountingDevice real(*native);
  BareDevice device(real);
  const auto source = [](const std::string& name, const std::string& options) {
    return KernelSource{"steps.cl", "text", options, {{name, [](auto, const auto&) {}}}};
  };
  device.build(source("step", ""));
  const auto again = device.build(source("step", "")), other = device.build(source("other", "-DOTHER"));
  EXPECT_EQ(real.built, 2);
  EXPECT_THAT(again->kernel_names(), testing::ElementsAre("step"));
  EXPECT_THAT(other->kernel_names(), testing::ElementsAre("other"));
  EXPECT_NE(again->kernel("step"), nullptr);
}

TEST(BareQueue, OfNativeMovesBytes) {
  const DeviceCatalogue catalogue;
  moves_bytes(*catalogue.open(catalogue.choose({"native", "", "", "native"}, 0, 1, 0)));
}

TEST(BareQueue, OfOpenclMovesBytes) {
  const DeviceCatalogue catalogue;
  for (const DeviceInfo& info : catalogue.infos())
    if (info.runtime == "opencl") moves_bytes(*catalogue.open(info));
}

TEST(VerdictsByParts, AreThreeColumns) {
  const Json record = read_record(std::string(PLUMBLINE_SOURCE_DIR) + "/tests/golden/b_eff_8_random.record.json");
  Json expected{{"model", "m"}, {"system", "this run's own parts"}, {"state", "as usual"}, {"promise", "by s: 1 slow"}};
  expected["cases"]["random/transfer/1"] = {{"expected_s", 6e-6}, {"ratio", 1.02},    {"verdict", "ambiguous"},
                                            {"why", "spread"},    {"state", "usual"}, {"promise", "slow"},
                                            {"bound", "exchange"}};
  const std::string table = write_form("table", record, expected);
  for (const char* word : {"efficiency", "state", "promise", "ambiguous", "spread", "usual", "by s: 1 slow"})
    EXPECT_NE(table.find(word), std::string::npos) << word << "\n" << table;
  EXPECT_EQ(table.find("repetitions  "), std::string::npos);
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
}

}  // namespace
}  // namespace plumb
