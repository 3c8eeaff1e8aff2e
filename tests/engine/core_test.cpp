#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <tuple>
#include <vector>

#include "core/data.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "core/parameter.hpp"
#include "core/registry.hpp"
#include "core/units.hpp"

namespace plumb {
namespace {

using ::testing::HasSubstr;

struct Options : Parameters {
  Parameter<std::int64_t> size{*this, {"size", "a size", "B", {"-s"}}, 4, {0, 30}};
  Parameter<double> share{*this, {"share", "a share"}, 0.5, {0.0, 1.0}};
  Parameter<bool> quick{*this, {"quick", "be quick"}, false};
  Parameter<std::string> name{*this, {"name", "a name"}, ""};
  Choice ring{*this, {"ring", "an order"}, "natural", {"natural", "random"}};
};

std::string refusal_of(ParameterBase& parameter, const std::string& text) {
  try {
    parameter.parse(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Parameter, ReadsWhatItDeclares) {
  Options o;
  o.size.parse("30");
  o.share.parse("0.25");
  o.quick.parse("true");
  o.name.parse("x y");
  o.ring.parse("random");
  EXPECT_EQ(o.size.get(), 30);
  EXPECT_EQ(o.share.get(), 0.25);
  EXPECT_TRUE(o.quick.get());
  EXPECT_EQ(o.name.get(), "x y");
  EXPECT_EQ(o.ring.get(), "random");
  EXPECT_TRUE(o.size.given());
}

TEST(Parameter, RefusesWithASentence) {
  Options o;
  for (const char* bad : {"31", "-1", "4.5", "4x", "", " 4", "1e3", "99999999999999999999"})
    EXPECT_THAT(refusal_of(o.size, bad), HasSubstr("--size must be an integer (0..30)")) << bad;
  for (const char* bad : {"nan", "1.5", "-0.1", "inf", "half"})
    EXPECT_THAT(refusal_of(o.share, bad), HasSubstr("--share must be a number (0..1)")) << bad;
  EXPECT_EQ(refusal_of(o.ring, "nat"), "--ring must be one of natural, random, not \"nat\"");
  EXPECT_EQ(o.size.get(), 4);
  EXPECT_FALSE(o.size.given());
}

// The same table is plumb's, in tests/python/test_options.py.
TEST(Parameter, ReadsSizesAsPeopleWriteThem) {
  struct Sizes : Parameters {
    Parameter<std::int64_t> number{*this, {"size", "n"}, 0, {0}};
    Parameter<std::int64_t> elements{*this, {"size", "n", "elements"}, 0, {0}};
    Parameter<std::int64_t> bytes{*this, {"size", "n", "B"}, 0, {0}};
    Parameter<std::int64_t> mebi{*this, {"size", "n", "MiB"}, 0, {0}};
    Parameter<std::int64_t> log_bytes{*this, {"size", "n", "log2 B"}, 0, {0, 30}};
    Parameter<std::int64_t> log{*this, {"size", "n", "log2"}, 0, {0, 30}};
  };
  const std::vector<std::tuple<Parameter<std::int64_t> Sizes::*, std::string, std::optional<std::int64_t>, std::string>>
      table{{&Sizes::number, "2048", 2048, ""},
            {&Sizes::number, "2^11", 2048, "2048"},
            {&Sizes::number, "2Ki", 2048, "2048"},
            {&Sizes::elements, "3Mi", 3 << 20, "3145728 elements"},
            {&Sizes::bytes, "2KiB", 2048, "2048 B"},
            {&Sizes::mebi, "2GiB", 2048, "2048 MiB"},
            {&Sizes::log_bytes, "11", 11, "2^11 B"},
            {&Sizes::log_bytes, "30", 30, "2^30 B"},
            {&Sizes::log_bytes, "31", {}, ""},
            {&Sizes::log_bytes, "2048", 11, "2^11 B"},
            {&Sizes::log_bytes, "2^11", 11, "2^11 B"},
            {&Sizes::log_bytes, "2^4", 4, "2^4 B"},
            {&Sizes::log_bytes, "2Ki", 11, "2^11 B"},
            {&Sizes::log_bytes, "2KiB", 11, "2^11 B"},
            {&Sizes::log, "1", 1, "2^1"},
            {&Sizes::log_bytes, "3Ki", {}, ""},
            {&Sizes::log_bytes, "2^31", {}, ""},
            {&Sizes::elements, "2KiB", {}, ""},
            {&Sizes::mebi, "2KiB", {}, ""},
            {&Sizes::number, "2^x", {}, ""},
            {&Sizes::number, "2^63", {}, ""},
            {&Sizes::number, "9999999999Gi", {}, ""},
            {&Sizes::number, "Ki", {}, ""},
            {&Sizes::number, "2k", {}, ""},
            {&Sizes::number, "2^-1", {}, ""}};
  for (const auto& [member, text, value, understood] : table) {
    Sizes sizes;
    Parameter<std::int64_t>& size = sizes.*member;
    if (!value) {
      EXPECT_THAT(refusal_of(size, text), HasSubstr("--size must be an integer")) << text;
      continue;
    }
    size.parse(text);
    EXPECT_EQ(size.get(), *value) << text;
    EXPECT_EQ(size.understood(), understood) << text;
  }
}

TEST(Parameter, EchoesLongValuesShortened) {
  Options o;
  const std::string said = refusal_of(o.ring, std::string(5000, 'x'));
  EXPECT_LT(said.size(), 300u);
  EXPECT_THAT(said, HasSubstr("bytes)"));
  EXPECT_EQ(shortened("a word or two"), "a word or two");
  EXPECT_LT(shortened(std::string(10000, ' ')).size(), 2100u);
  std::string umlauts;
  for (int i = 0; i < 300; ++i) umlauts += "\u00e4";
  EXPECT_THAT(shortened("x" + umlauts), HasSubstr("\u00e4\u2026 (601 bytes)"));  // cut between characters
}

struct BuiltOptions : Parameters {
  Parameter<std::int64_t> block{*this, {"block", "a block", "", {}, "", {}, Build{"b", "BLOCK", true}}, 8};
  Choice type{
      *this,
      {"type", "a type", "", {}, "", {}, Build{"", "", false, [](const std::string& type) { return "-DT=" + type; }}},
      "half",
      {"half", "float"}};
};

TEST(Parameter, DescribesHowItEntersABitstream) {
  const BuiltOptions o;
  EXPECT_EQ(o.block.describe()["build"].dump(),
            R"({"letter":"b","macro":"BLOCK","log2":true,"zero":false,"options":null})");
  EXPECT_EQ(o.type.describe()["build"]["options"].dump(), R"({"half":"-DT=half","float":"-DT=float"})");
}

TEST(Parameter, DescribesItself) {
  const Options o;
  EXPECT_EQ(
      o.size.describe().dump(),
      R"({"name":"size","aliases":["-s"],"type":"integer","default":4,"unit":"B","minimum":0,"maximum":30,"choices":null,"help":"a size","bare":"","words":[],"build":null})");
  EXPECT_EQ(o.ring.describe()["choices"].dump(), R"(["natural","random"])");
  EXPECT_EQ(o.parameters().size(), 5u);
  EXPECT_EQ(o.find("ring"), &o.ring);
  EXPECT_EQ(o.find("rings"), nullptr);
}

TEST(Names, NearestIsMeant) {
  const std::vector<std::string> names{"staged", "mpi", "pipelined"};
  EXPECT_EQ(nearest("stagd", names), "staged");
  EXPECT_EQ(nearest("quite-another", names), "");
  EXPECT_EQ(unknown_name("transport", "stagd", names),
            "unknown transport: 'stagd' (choose from staged, mpi, pipelined); did you mean staged?");
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
}

TEST(Units, BytesAndSeconds) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(1u << 20), "1 MiB");
  EXPECT_EQ(format_seconds(1.5e-6), "1.5 us");
  EXPECT_EQ(format_seconds(0.25), "250 ms");
  EXPECT_EQ(format_seconds(2e-9), "2 ns");
}

std::vector<std::byte> message(const Provenance& id) {
  std::vector<std::byte> bytes(id.size);
  fill_message(bytes, id);
  return bytes;
}

TEST(Pattern, ComparesEqualToItselfAtAnySize) {
  for (const std::uint64_t size : {1u, 2u, 7u, 8u, 9u, 4096u, 4099u}) {
    const Provenance id{1, 2, 3, size, 4};
    EXPECT_EQ(compare_message(message(id), id).wrong, 0u) << size;
  }
}

TEST(Pattern, OneFlippedBitIsFoundWhereItIs) {
  const Provenance id{1, 0, 0, 1000, 1};
  for (const std::size_t at : {0u, 1u, 100u, 500u, 900u, 999u}) {
    auto bytes = message(id);
    bytes[at] ^= std::byte{1};
    const Difference d = compare_message(bytes, id);
    EXPECT_EQ(d.wrong, 1u);
    EXPECT_EQ(d.first_offset, at);
    EXPECT_EQ(d.is ^ d.should_be, 1);
  }
}

TEST(Pattern, PoisonIsWrongInEveryByte) {
  for (const std::uint64_t size : {1u, 3u, 8u, 1001u}) {
    const Provenance id{1, 5, 1, size, 9};
    std::vector<std::byte> bytes(size);
    poison_message(bytes, id);
    EXPECT_EQ(compare_message(bytes, id).wrong, size);
  }
}

// A message of one byte must differ from its neighbours', or a swapped, stale or misdirected one would pass.
TEST(Pattern, FirstByteTellsNeighboursApart) {
  for (std::uint64_t origin = 0; origin < 8; ++origin)
    for (std::uint64_t lane = 0; lane < 4; ++lane)
      for (std::uint64_t repetition = 1; repetition < 20; ++repetition) {
        const auto own = message({1, origin, lane, 1, repetition});
        EXPECT_NE(own, message({1, origin + 1, lane, 1, repetition}));
        EXPECT_NE(own, message({1, origin + 2, lane, 1, repetition}));
        EXPECT_NE(own, message({1, origin, lane ^ 1, 1, repetition}));
        EXPECT_NE(own, message({1, origin + 1, lane ^ 1, 1, repetition}));
        EXPECT_NE(own, message({1, origin, lane, 1, repetition + 1}));
      }
}

}  // namespace
}  // namespace plumb
