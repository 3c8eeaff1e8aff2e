// PTRANS: distribution of blocks, contents of matrices, detection of wrong numbers, and the native kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "benchmarks/hpcc/ptrans/kernels.hpp"
#include "benchmarks/hpcc/ptrans/matrices.hpp"
#include "benchmarks/hpcc/ptrans/ptrans.hpp"
#include "device/select.hpp"

namespace plumb::ptrans {

namespace {

const Problem ragged{67, 5};
const ScalarType number_types[] = {ScalarType::f16, ScalarType::f32, ScalarType::f64};

std::vector<Distribution> distributions() {
  std::vector<Distribution> list;
  for (int ranks = 1; ranks <= 8; ++ranks) {
    for (const Grid& grid : grids_of(ranks)) list.push_back(Distribution::pq(ragged, grid));
    list.push_back(Distribution::diagonal(ragged, ranks));
  }
  return list;
}

TEST(PtransDistribution, GridsOfAreThoseWhoseRowsDivideTheRanks) {
  std::vector<std::string> texts;
  for (const Grid& grid : grids_of(6)) texts.push_back(grid.text());
  EXPECT_THAT(texts, testing::ElementsAre("1 x 6", "2 x 3", "3 x 2", "6 x 1"));
  EXPECT_EQ(squarest(6).text(), "2 x 3");
  EXPECT_EQ(squarest(7).text(), "1 x 7");
  EXPECT_EQ(squarest(4).text(), "2 x 2");
}

TEST(PtransDistribution, PqIsBlockCyclic) {
  const Distribution dealt = Distribution::pq(ragged, {2, 3});
  EXPECT_EQ(dealt.owner(0, 0), 0);
  EXPECT_EQ(dealt.owner(0, 2), 2);
  EXPECT_EQ(dealt.owner(1, 0), 3);
  EXPECT_EQ(dealt.owner(5, 7), 4);
}

TEST(PtransDistribution, EveryNumberIsOnOneRankOnce) {
  for (const Distribution& dealt : distributions())
    for (const std::uint64_t stages : {1u, 3u}) {
      std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
      std::uint64_t items = 0;
      for (int rank = 0; rank < dealt.ranks(); ++rank)
        for (const Portion& part : parts_of(dealt, rank, stages)) {
          std::uint64_t at = 0;
          for (const Block& block : part.blocks) {
            EXPECT_EQ(block.at, at);
            EXPECT_TRUE(seen.insert({block.top, block.left}).second);
            at += block.items();
          }
          EXPECT_EQ(part.items, at);
          items += at;
        }
      EXPECT_EQ(items, ragged.size * ragged.size);
    }
}

// A rank's part for another is stored, block by block, at the position of the part that comes back.
TEST(PtransDistribution, PartnersPartsMirrorEachOther) {
  for (const Distribution& dealt : distributions()) {
    std::map<std::tuple<int, int, std::uint64_t>, Portion> parts;
    for (int rank = 0; rank < dealt.ranks(); ++rank)
      for (const Portion& part : parts_of(dealt, rank, 3)) parts[{rank, part.partner, part.stage}] = part;
    for (const auto& [key, part] : parts) {
      const auto& [rank, partner, stage] = key;
      if (rank == partner) continue;
      const Portion expected = mirrored(part, rank), &there = parts.at({partner, rank, stage});
      ASSERT_EQ(there.blocks.size(), expected.blocks.size());
      for (std::size_t i = 0; i < there.blocks.size(); ++i) {
        EXPECT_EQ(there.blocks[i].top, expected.blocks[i].top);
        EXPECT_EQ(there.blocks[i].left, expected.blocks[i].left);
        EXPECT_EQ(there.blocks[i].rows, expected.blocks[i].rows);
        EXPECT_EQ(there.blocks[i].at, expected.blocks[i].at);
      }
    }
  }
}

TEST(PtransDistribution, DiagonalGivesOnePartnerAndEvenShares) {
  for (int ranks = 1; ranks <= 8; ++ranks) {
    const auto shares = Distribution::diagonal({800, 10}, ranks).shares();
    EXPECT_TRUE(shares.at_most_one_partner()) << ranks;
    const auto [least, most] = std::minmax_element(shares.blocks.begin(), shares.blocks.end());
    EXPECT_LE(*most - *least, 4u) << ranks;
    const bool odd = ranks % 2 == 1;
    EXPECT_EQ(shares.partners.back().empty(), odd) << ranks;
  }
}

TEST(PtransDistribution, OnlySquareGridsAndPairsHaveOnePartner) {
  const auto has_one = [](const Grid& grid) { return Distribution::pq(ragged, grid).shares().at_most_one_partner(); };
  EXPECT_TRUE(has_one({1, 2}));
  EXPECT_TRUE(has_one({2, 2}));
  EXPECT_FALSE(has_one({2, 3}));
  EXPECT_FALSE(has_one({1, 4}));
}

TEST(PtransContents, SumsAreExactAndNoNumberIsZero) {
  for (const ScalarType type : number_types) {
    const Contents contents(ragged, type, {3, 0, 0, 0, 1});
    std::set<double> distinct;
    for (std::uint64_t row = 0; row < 67; ++row)
      for (std::uint64_t column = 0; column < 67; ++column) {
        const double a = contents.a(column, row), b = contents.b(row, column), sum = a + b;
        ASSERT_NE(a, 0);
        ASSERT_LT(std::abs(a), 1);
        std::vector<std::byte> bytes(size_of(type));
        double back = 0;
        store_scalars({&sum, 1}, type, bytes);
        load_scalars(bytes, type, {&back, 1});
        ASSERT_EQ(static_cast<long double>(back), static_cast<long double>(a) + static_cast<long double>(b));
        distinct.insert(a);
      }
    EXPECT_GT(distinct.size(), type == ScalarType::f16 ? 900u : 4480u);
  }
}

TEST(PtransContents, AChangesWithTheRepetition) {
  const Contents one(ragged, ScalarType::f64, {1, 0, 0, 0, 1}), two(ragged, ScalarType::f64, {1, 0, 0, 0, 2});
  EXPECT_NE(one.a(3, 4), two.a(3, 4));
  EXPECT_EQ(one.b(3, 4), two.b(3, 4));
}

// Every part of every rank of a 2 x 3 grid, C as it should be.
class PtransCheck : public testing::Test {
 protected:
  PtransCheck() {
    for (const Portion& part : parts_of(Distribution::pq(ragged, {2, 3}), 1, 2)) parts_.emplace_back(part, 1);
  }
  std::vector<double> right_c(const LocalPortion& local) const {
    std::vector<double> c;
    for (const Block& block : local.part.blocks)
      for (std::uint64_t i = block.top; i < block.top + block.rows; ++i)
        for (std::uint64_t j = block.left; j < block.left + block.columns; ++j)
          c.push_back(contents_.b(i, j) + contents_.a(j, i));
    return c;
  }
  Finding check(const LocalPortion& local, const std::vector<double>& c) const {
    return check_c(contents_, local, std::as_bytes(std::span(c)));
  }

  Contents contents_{ragged, ScalarType::f64, {1, 0, 0, 0, 1}};
  std::vector<LocalPortion> parts_;
};

TEST_F(PtransCheck, RightNumbersPassAndEachWrongOneIsFound) {
  for (const LocalPortion& local : parts_) {
    std::vector<double> c = right_c(local);
    EXPECT_EQ(check(local, c).wrong, 0u);
    for (std::size_t at = 0; at < c.size(); at += 7) {
      const double right = std::exchange(c[at], std::nextafter(c[at], 2));
      const Finding found = check(local, c);
      EXPECT_EQ(found.wrong, 1u);
      EXPECT_GT(found.error, 0);
      c[at] = right;
    }
    c.back() = std::nan("");
    EXPECT_EQ(check(local, c).wrong, 1u);
    EXPECT_EQ(check(local, c).error, INFINITY);
  }
}

TEST_F(PtransCheck, RepeatedRowsAreFound) {
  for (const LocalPortion& local : parts_) {
    std::vector<double> c = right_c(local);
    const std::uint64_t row = local.part.blocks.front().columns;
    std::copy_n(c.begin(), row, c.begin() + static_cast<std::ptrdiff_t>(row));
    EXPECT_EQ(check(local, c).wrong, row);
  }
}

// The first words left by an operation differ from those of any other.
TEST_F(PtransCheck, OperationsAreToldFromEachOther) {
  for (const LocalPortion& local : parts_)
    for (const std::uint64_t later : {0u, 1u, 2u, 22u, 1023u}) {
      std::vector<double> begin(2 * slide.step() / sizeof(double));
      begin.resize(std::min<std::size_t>(begin.size(), local.part.items));
      for (std::size_t at = 0; at < begin.size(); ++at)
        begin[at] = contents_.sent(local.source, local.part.partner, at, later);
      for (const std::uint64_t other : {0u, 1u, 2u, 22u, 1023u}) {
        const Finding found = check_received_begin(contents_, local, other, std::as_bytes(std::span(begin)));
        EXPECT_EQ(found.wrong == 0, later == other) << later << " " << other;
      }
    }
}

TEST(PtransKernel, NativeTransposesBlocksOfAnyShape) {
  const DeviceCatalogue catalogue;
  const auto device = catalogue.open(catalogue.choose({"native", "", "", "native"}, 0, 1, 0));
  for (const ScalarType type : number_types) {
    const std::size_t size = size_of(type);
    const KernelForm form = kernel_form(device->info(), type, "default");
    for (const std::uint64_t edge : {1u, 5u, 8u, 16u, 32u, 64u, 70u}) {
      const Problem problem{2 * edge + (edge > 1 ? edge / 2 : 0), edge};
      const Contents contents(problem, type, {1, 0, 0, 0, 1});
      const LocalPortion local(parts_of(Distribution::pq(problem, {1, 1}), 0, 1).front(), 0);
      std::vector<std::byte> a(local.part.items * size), b(a.size()), c(a.size());
      fill_a(contents, local, 0, a);
      fill_b(contents, local, 0, b);
      std::vector<std::uint64_t> table;
      for (std::size_t i = 0; i < local.part.blocks.size(); ++i) {
        const Block& block = local.part.blocks[i];
        table.insert(table.end(), {block.at, local.images[i], block.rows, block.columns});
      }
      const auto buffer_of = [&](std::span<const std::byte> bytes) {
        auto buffer = device->allocate(bytes.size(), {});
        device->make_queue()->write(bytes.data(), whole(*buffer));
        return buffer;
      };
      const auto on_a = buffer_of(a), on_b = buffer_of(b), on_c = buffer_of(c);
      const auto on_table = buffer_of(std::as_bytes(std::span(table)));
      const auto program = device->build(form.source());
      const auto kernel = program->kernel("transpose");
      kernel->set({on_a.get(), on_b.get(), on_c.get(), on_table.get(), std::uint64_t{0}, std::uint64_t{0},
                   std::uint64_t{0}, form.tiles(edge)});
      const auto queue = device->make_queue();
      queue->enqueue(*kernel, form.range(local.part.blocks.size(), edge));
      queue->read(whole(*on_c), c.data());
      EXPECT_EQ(check_c(contents, local, c).wrong, 0u) << to_string(type) << " " << edge;
    }
  }
}

TEST(PtransOptions, BadInputIsRefusedInASentence) {
  const auto refusal = [](int ranks, const std::vector<std::pair<std::string, std::string>>& options) -> std::string {
    Ptrans benchmark;
    for (const auto& [name, value] : options) benchmark.find(name)->parse(value);
    try {
      benchmark.check({0, ranks, 1});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(6, {{"grid-rows", "2"}}), "");
  EXPECT_EQ(refusal(6, {{"grid-rows", "4"}}),
            "a grid of 4 rows does not match 6 ranks (choose from 1 x 6, 2 x 3, 3 x 2, 6 x 1)");
  EXPECT_EQ(refusal(6, {{"grid-rows", "2"}, {"grid-columns", "2"}}),
            "a grid of 2 x 2 does not match 6 ranks (choose from 1 x 6, 2 x 3, 3 x 2, 6 x 1)");
  EXPECT_EQ(refusal(2, {{"grid-columns", "4"}}),
            "a grid of 4 columns does not match 2 ranks (choose from 1 x 2, 2 x 1)");
  EXPECT_THAT(refusal(6, {{"size", "10"}, {"block-size", "5"}}), testing::HasSubstr("leave a rank of 6 without any"));
  EXPECT_THAT(refusal(6, {{"distribution", "diagonal"}, {"grid-rows", "2"}}),
              testing::HasSubstr("require --distribution pq"));
  EXPECT_THAT(refusal(2, {{"size", "1048576"}, {"block-size", "1"}}), testing::HasSubstr("above the limit of 8192"));
}

}  // namespace

}  // namespace plumb::ptrans
