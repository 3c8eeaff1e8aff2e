// Cases of the NPB: repetitions by class, presets, sizes.
#include <gtest/gtest.h>

#include "benchmarks/shmem/npb/npb.hpp"
#include "core/registry.hpp"
#include "measure/benchmark.hpp"

namespace plumb::npb {
namespace {

const char* const all_npb[] = {"npb_is", "npb_ep", "npb_mg", "npb_bt", "npb_sp", "npb_lu"};

std::unique_ptr<Benchmark> npb_of(const std::string& name,
                                  const std::vector<std::pair<std::string, std::string>>& options) {
  auto benchmark = (*Registry<BenchmarkFactory>::instance().find(name))();
  for (const auto& [option, value] : options) benchmark->find(option)->parse(value);
  return benchmark;
}

// S and W are repeated until the interval is narrow, A three times, B and C once; an iteration is a lap.
TEST(NpbCases, AreRepeatedByClass) {
  for (const std::string name : all_npb)
    for (const ClassRow& row : classes_of(name)) {
      const auto benchmark = npb_of(name, {{"class", std::string(1, row.name)}});
      const Group group = benchmark->groups({0, 1, 1}).at(0);
      const auto kind = row.name == 'A'                      ? CasePolicy::Kind::fixed
                        : row.name == 'B' || row.name == 'C' ? CasePolicy::Kind::once
                                                             : CasePolicy::Kind::adaptive;
      for (const Case& one : group.cases) {
        EXPECT_EQ(one.policy.kind, kind) << name << ' ' << one.key;
        EXPECT_EQ(one.policy.repetitions, row.name == 'A' ? 3u : 0u) << name << ' ' << one.key;
        EXPECT_EQ(one.fixed_count, static_cast<std::uint64_t>(row.iterations)) << name << ' ' << one.key;
        EXPECT_TRUE(one.laps) << name << ' ' << one.key;
      }
    }
}

// Sizes of one's own have no official values, and are repeated like the small classes.
TEST(NpbCases, OfOtherSizesHaveNoClass) {
  const std::vector<std::pair<std::string, std::string>> sizes[] = {{{"log2-keys", "17"}}, {{"log2-pairs", "19"}},
                                                                    {{"grid", "64"}},      {{"grid", "17"}},
                                                                    {{"dt", "0.002"}},     {{"iterations", "3"}}};
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    auto options = sizes[i];
    options.emplace_back("class", "B");
    const Case one = npb_of(all_npb[i], options)->groups({0, 1, 1}).at(0).cases.at(0);
    EXPECT_EQ(one.labels.at("class"), "U") << all_npb[i];
    EXPECT_EQ(one.policy.kind, CasePolicy::Kind::adaptive) << all_npb[i];
  }
}

TEST(NpbCases, HavePresetsByClass) {
  for (const std::string name : all_npb) {
    const auto benchmark = npb_of(name, {});
    const bool is_flow = name == "npb_bt" || name == "npb_sp" || name == "npb_lu";
    EXPECT_EQ(benchmark->preset("smoke").at("class"), "S");
    EXPECT_EQ(benchmark->preset("standard").at("class"), is_flow ? "W" : "A") << name;
    EXPECT_EQ(benchmark->preset("full").at("class"), "C");
  }
}

}  // namespace
}  // namespace plumb::npb
