// Parts of a run: how they are named, the queues that they use, and how verdicts by them are shown.
#include <gtest/gtest.h>

#include <sstream>
#include <thread>

#include "device/select.hpp"
#include "measure/parts.hpp"
#include "record/forms.hpp"

namespace plumb {
namespace {

TEST(Parts, AreBenchmarksWithTheirOptions) {
  const auto parts = parse_parts("ceilings only=launch,memory size=24; links ring=random sizes=1,1024 ;");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0]->name(), "ceilings");
  EXPECT_EQ(parts[0]->find("size")->value_json(), Json(24));
  const std::vector<Group> groups = parts[1]->groups({0, 2, 1});
  ASSERT_EQ(groups.size(), 1u);
  ASSERT_EQ(groups[0].cases.size(), 2u);
  EXPECT_EQ(groups[0].cases[1].key, "random/relay/1024");
  EXPECT_TRUE(parse_parts("").empty());
}

TEST(Parts, RefusesWhatIsNone) {
  EXPECT_THROW(parse_parts("nothing"), UsageError);
  EXPECT_THROW(parse_parts("b_eff"), UsageError);  // runs the transport that is judged
  EXPECT_THROW(parse_parts("ceilings colour=1"), UsageError);
  EXPECT_THROW(parse_parts("ceilings size"), UsageError);
  EXPECT_THROW(parse_parts("ceilings size=100"), UsageError);
  const auto parts = parse_parts("links sizes=1,x");
  EXPECT_THROW(parts[0]->check({0, 2, 1}), UsageError);
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
