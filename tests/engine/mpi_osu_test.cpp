// OSU's tests over MPI: expected messages, their places, and the figures of a case.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "benchmarks/osu/mpi/mpi_osu.hpp"

namespace plumb::osu {
namespace {

constexpr std::size_t elements = 16;

// The library's own result for two ranks' values, one operation.
TEST(OsuContents, ReducedValuesAreTheLibrarys) {
  for (const Type& type : types())
    for (const char* name : {"sum", "prod", "max", "min", "band", "bor", "bxor", "land", "lor", "lxor"}) {
      const Operation& operation = operation_called(name);
      if (!refusal(operation, type).empty()) continue;
      const Contents contents{&type, &operation, 2, 7, 3};
      std::vector<std::byte> first(elements * type.bytes), second(first.size()), should(first.size());
      contents.message(first, 0, 0);
      contents.message(second, 1, 0);
      contents.reduced(should, 0);
      const MPI_Datatype handle = type.reduced == MPI_DATATYPE_NULL ? type.handle : type.reduced;
      ASSERT_EQ(MPI_Reduce_local(first.data(), second.data(), elements, handle, operation.handle), MPI_SUCCESS);
      Image image(should.size());
      image.padded = type.name == "mpi_long_double";
      std::ranges::copy(should, image.expect(0, should.size()).begin());
      EXPECT_EQ(image.compare(std::span<const std::byte>(second), "").wrong_items, 0u) << type.name << " " << name;
    }
}

TEST(OsuContents, NoValueIsConstantOverPlaces) {
  const Contents contents{&type_called("mpi_char"), nullptr, 2, 1, 1};
  std::vector<std::byte> bytes(256), behind(255);
  contents.message(bytes, 0, 0);
  contents.message(behind, 0, 1);
  EXPECT_EQ(std::memcmp(bytes.data() + 1, behind.data(), behind.size()), 0) << "a message is a part of one long run";
  EXPECT_NE(std::memcmp(bytes.data(), behind.data(), behind.size()), 0);
}

// Each operation must leave bytes that no later one overwrites.
TEST(OsuPlaces, EachOperationLeavesAPart) {
  for (const std::size_t length : {1, 8, 64, 65, 1000}) {
    constexpr std::uint64_t window = 3, count = 5;
    const Places places = Places::targets(length, window, count, 64);
    std::vector<int> writer(places.room(), -1);
    for (std::uint64_t operation = 0; operation < count; ++operation)
      for (std::uint64_t slot = 0; slot < window; ++slot)
        std::fill_n(writer.begin() + static_cast<std::ptrdiff_t>(places.at(operation, slot)), length,
                    static_cast<int>(operation * window + slot));
    for (std::uint64_t operation = 0; operation < count; ++operation)
      for (std::uint64_t slot = 0; slot < window; ++slot)
        EXPECT_EQ(std::count(writer.begin(), writer.end(), static_cast<int>(operation * window + slot)),
                  static_cast<std::ptrdiff_t>(places.left(operation, count)));
  }
}

// OSU's defect O8: a rank that is late in one operation is so in the percentile; OSU's average over ranks halves it.
TEST(OsuFigures, O8PercentilesAreOfTheSlowestRankInEachOperation) {
  Osu osu("osu_allreduce");
  osu.find("message-size")->parse("8:8");
  osu.find("tail-lat")->parse("50,100");
  const std::vector<Group> groups = osu.groups({0, 2, 1});
  ASSERT_EQ(groups.size(), 1u);
  CaseResult result;
  result.measured = &groups[0].cases[0];
  result.count = 4;
  result.summary = summarise(std::vector<double>{4e-6});
  result.laps_by_rank = {{1e-6, 1e-6, 1e-6, 1e-6}, {1e-6, 9e-6, 1e-6, 1e-6}};
  result.tallies_by_rank["own_s"] = {1e-6, 3e-6};
  std::map<std::string, double> figures;
  for (const Metric& metric : osu.metrics(result, 2)) figures[metric.name] = metric.value;
  EXPECT_DOUBLE_EQ(figures.at("latency"), 2);
  EXPECT_DOUBLE_EQ(figures.at("latency_min"), 1);
  EXPECT_DOUBLE_EQ(figures.at("latency_max"), 3);
  EXPECT_DOUBLE_EQ(figures.at("latency_p50"), 1);
  EXPECT_DOUBLE_EQ(figures.at("latency_p100"), 9);
  EXPECT_DOUBLE_EQ(figures.at("algbw"), 8 / 1e-6 / 1e9);
  EXPECT_DOUBLE_EQ(figures.at("busbw"), figures.at("algbw"));  // 2 (n - 1) / n of two ranks
}

TEST(OsuTable, HasOsusNames) {
  std::set<std::string> names;
  for (const Titled& one : mpi_table()) EXPECT_TRUE(names.insert(one.row.name).second) << one.row.name;
  for (const char* name : {"osu_latency",
                           "osu_latency_mt",
                           "osu_latency_mp",
                           "osu_bw",
                           "osu_bibw",
                           "osu_mbw_mr",
                           "osu_multi_lat",
                           "osu_partitioned_latency",
                           "osu_latency_persistent",
                           "osu_bw_persistent",
                           "osu_bibw_persistent",
                           "osu_bw_fan_in",
                           "osu_bw_fan_out",
                           "osu_put_latency",
                           "osu_get_latency",
                           "osu_put_bw",
                           "osu_get_bw",
                           "osu_put_bibw",
                           "osu_acc_latency",
                           "osu_cas_latency",
                           "osu_fop_latency",
                           "osu_get_acc_latency",
                           "osu_init",
                           "osu_hello",
                           "osu_sendrecv"})
    EXPECT_EQ(names.count(name), 1u) << name;
  EXPECT_EQ(names.size(), 24u + 15 + 15 + 10 + 14 + 1);  // the last is not OSU's
}

}  // namespace
}  // namespace plumb::osu
