#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "core/json.hpp"
#include "measure/clock.hpp"
#include "measure/host.hpp"
#include "measure/ports.hpp"
#include "measure/statistics.hpp"
#include "measure/stopping.hpp"

namespace plumb {
namespace {

TEST(Statistics, SummaryOfKnownSamples) {
  const std::vector<double> samples{5, 1, 4, 2, 3};
  const Summary s = summarise(samples);
  EXPECT_EQ(s.samples, 5u);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.max, 5);
  EXPECT_EQ(s.median, 3);
  EXPECT_EQ(s.mean, 3);
  EXPECT_EQ(s.best, 1u);
  EXPECT_FALSE(s.median_interval) << "five samples cannot give 95 %";
  EXPECT_FALSE(s.p95) << "below 100 samples a p95 is nearly the maximum";
  EXPECT_EQ(summarise({}).samples, 0u);
}

TEST(Statistics, QuantilesInterpolate) {
  const std::vector<double> sorted{0, 10, 20, 30};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.5), 15);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.0), 0);
  EXPECT_DOUBLE_EQ(quantile(sorted, 1.0), 30);
}

// Table values: for n = 6 the interval is [x1, x6] (96.9 %), for n = 10 [x2, x9] (97.9 %), n = 20 [x6, x15], n = 100
// [x40, x61].
TEST(Statistics, RanksOfTheMediansInterval) {
  EXPECT_FALSE(median_ranks(5));
  EXPECT_EQ(*median_ranks(6), (std::pair<std::size_t, std::size_t>{0, 5}));
  EXPECT_EQ(*median_ranks(10), (std::pair<std::size_t, std::size_t>{1, 8}));
  EXPECT_EQ(*median_ranks(20), (std::pair<std::size_t, std::size_t>{5, 14}));
  EXPECT_EQ(*median_ranks(100), (std::pair<std::size_t, std::size_t>{39, 60}));
  EXPECT_TRUE(median_ranks(1000000));
}

TEST(Statistics, IntervalCoversTheMedianAsOftenAsItSays) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> skewed(0, 1);  // median 1
  int covered = 0;
  constexpr int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> samples(25);
    std::generate(samples.begin(), samples.end(), [&] { return skewed(random); });
    const auto interval = summarise(samples).median_interval;
    covered += interval->first <= 1 && 1 <= interval->second;
  }
  EXPECT_GE(covered, trials * 94 / 100);
}

TEST(Statistics, SlowestRankOfEachRepetition) {
  EXPECT_EQ(slowest_of_each({{1, 5, 2}, {3, 4, 1}}), (std::vector<double>{3, 5, 2}));
  EXPECT_TRUE(slowest_of_each({}).empty());
}

TEST(Stopping, FixedAndOnceCountOnly) {
  StoppingRule fixed({3, 10, 1000, 1e-9, 0.02}, false);
  const std::vector<double> samples(3, 1.0);
  EXPECT_FALSE(fixed.decide({samples.data(), 2}, 100));
  EXPECT_EQ(fixed.decide(samples, 0)->reason, "fixed");
  StoppingRule once({}, true);
  EXPECT_FALSE(once.decide({}, 0));
  EXPECT_EQ(once.decide({samples.data(), 1}, 0)->reason, "once");
}

TEST(Stopping, AdaptiveNamesWhatEndedIt) {
  const Policy policy{0, 10, 50, 1.0, 0.02};
  std::vector<double> steady, noisy;
  for (int i = 0; i < 50; ++i) {
    steady.push_back(1.0 + 0.001 * (i % 3));
    noisy.push_back(1.0 + i % 2);
  }
  StoppingRule a(policy, false), b(policy, false), c(policy, false);
  EXPECT_FALSE(a.decide({steady.data(), 9}, 0)) << "below the minimum";
  EXPECT_EQ(a.decide({steady.data(), 10}, 0)->reason, "confidence");
  EXPECT_EQ(a.decide({steady.data(), 10}, 9)->reason, "confidence") << "narrow enough, however long it took";
  EXPECT_FALSE(b.decide({noisy.data(), 30}, 0.5));
  EXPECT_EQ(b.decide({noisy.data(), 31}, 1.5)->reason, "time");
  EXPECT_EQ(c.decide(noisy, 0.5)->reason, "repetitions");
  EXPECT_GT(*c.decide(noisy, 0.5)->half_width, 0.02);
}

TEST(Stopping, SamplesOfOneMomentDoNotSuffice) {
  StoppingRule rule({0, 10, 50, 1.0, 0.02, 0.5}, false);
  const std::vector<double> alike(50, 1.0);
  EXPECT_FALSE(rule.decide({alike.data(), 10}, 0.1));
  EXPECT_EQ(rule.decide({alike.data(), 20}, 0.6)->reason, "confidence");
  EXPECT_EQ(rule.decide(alike, 0.1)->reason, "repetitions");
}

TEST(Stopping, LongRepetitionsAreNotMadeToTheMinimum) {
  const Policy policy{0, 10, 50, 1.0, 0.02};
  const std::vector<double> noisy{60, 90, 70};
  StoppingRule rule(policy, false);
  EXPECT_FALSE(rule.decide({noisy.data(), 2}, 150)) << "fewer tell nothing of themselves";
  EXPECT_EQ(rule.decide(noisy, 220)->reason, "time");
  EXPECT_FALSE(rule.decide(noisy, 9)) << "within the patience";
}

TEST(Clock, HasAResolutionAndACost) {
  const ClockProperties clock = measure_clock();
  EXPECT_GE(clock.resolution_s, 1e-9);
  EXPECT_LT(clock.resolution_s, 1e-3);
  EXPECT_GT(clock.overhead_s, 0);
}

TEST(Host, KnowsItself) {
  const Host host = this_host();
  EXPECT_FALSE(host.name.empty());
  EXPECT_GT(host.cores, 0);
  EXPECT_GT(host.memory_bytes, 1u << 20);
  EXPECT_FALSE(bound_cores().empty());
  EXPECT_GT(available_memory_bytes(), 0u);
}

Places two_ranks(std::vector<int> first, std::vector<int> second, const std::string& governor = "") {
  return {{{"node", "os", "kernel", "cpu", 4, 1, governor}},
          {{0, 0, 0, std::move(first)}, {1, 0, 1, std::move(second)}}};
}

std::vector<std::string> codes(const Places& places) {
  std::vector<std::string> result;
  for (const Warning& warning : doubts(places))
    if (warning.code != "debug_build" && warning.code != "sanitized_build") result.push_back(warning.code);
  return result;
}

TEST(Host, DoubtsWhatSpoilsMeasurements) {
  EXPECT_TRUE(codes(two_ranks({0}, {1})).empty());
  EXPECT_EQ(codes(two_ranks({0, 1, 2, 3}, {0, 1, 2, 3})), std::vector<std::string>{"unbound"});
  EXPECT_EQ(codes(two_ranks({0}, {0})), std::vector<std::string>{"oversubscribed"});
  EXPECT_EQ(codes(two_ranks({0}, {1}, "powersave")), std::vector<std::string>{"frequency_scaling"});
  EXPECT_TRUE(codes(two_ranks({0}, {1}, "performance")).empty());
}

TEST(Host, DoubtsFiguresOfDevicesThatRanksShare) {
  Places places = two_ranks({0}, {1});
  places.ranks[0].device = places.ranks[1].device = "Card (0000:18:00.0)";
  EXPECT_EQ(codes(places), std::vector<std::string>{"shared_device"});
  EXPECT_NE(doubts(places).back().text.find("2 ranks share Card (0000:18:00.0) of node"), std::string::npos);
  places.ranks[1].device = "Card (0000:3b:00.0)";
  EXPECT_TRUE(codes(places).empty());
  places.hosts.push_back(places.hosts[0]);
  places.ranks[1] = {1, 1, 0, {1}, places.ranks[0].device};
  EXPECT_TRUE(codes(places).empty()) << "another host's";
}

TEST(Host, KnowsThePortsThatMoveBytes) {
  const auto root = std::filesystem::temp_directory_path() / fmt::format("plumb-ports-{}", getpid());
  const auto put = [&](const std::string& name, std::uint64_t value) {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(root / name) << value << '\n';
  };
  const auto move = [&](std::uint64_t bytes) {
    for (const std::string name : {"lo", "eth0", "bond0", "idle"}) {
      put("class/net/" + name + "/type", name == "lo" ? 772 : 1);
      put("class/net/" + name + "/statistics/tx_bytes", 7 + (name == "idle" ? 0 : bytes));
      put("class/net/" + name + "/statistics/rx_bytes", 5 + (name == "idle" ? 0 : 2 * bytes));
    }
    put("class/net/bond0/lower_eth0", 0);
    put("class/net/bonding_masters", 0);
    put("class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", 100 + bytes);
    put("class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", 100 + bytes);
  };
  move(0);
  const Ports begin = network_ports(root);
  move(1000);
  const Ports end = network_ports(root);
  const auto port = [](const char* name, int sent, int received) {
    return Json{{"name", name}, {"sent_bytes", sent}, {"received_bytes", received}};
  };
  EXPECT_EQ(to_json(begin, end), Json::array({port("eth0", 1000, 2000), port("mlx5_0:1", 4000, 4000)}));
  EXPECT_TRUE(to_json(begin, begin).empty());
  EXPECT_TRUE(to_json(end, begin).empty()) << "counters that began anew";
  EXPECT_TRUE(network_ports(root / "none").empty());
  std::filesystem::remove_all(root);
}

TEST(Host, KnowsNoCoresNearToADeviceThatIsNotThere) {
  EXPECT_TRUE(cores_near("").empty());
  EXPECT_TRUE(cores_near("ffff:ff:1f.7").empty());
}

}  // namespace
}  // namespace plumb
