// Input of shoms: sizes and names of tests, from options and files.
#include "benchmarks/shmem/shoms/sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "benchmarks/shmem/shoms/cores.hpp"
#include "tests/engine/refusal.hpp"

namespace plumb::shoms {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> known{"int_put", "int_put_nbi", "long_get", "barrier_all"};

class Files : public ::testing::Test {
 protected:
  std::string file(const std::string& text) {
    const auto path = std::filesystem::temp_directory_path() /
                      (std::string("shoms_sizes_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::ofstream(path) << text;
    return path.string();
  }
};

TEST_F(Files, OfSizes) {
  EXPECT_THAT(sizes_in_file(file("8\n# larger\n\n 24 # odd\n")), ElementsAre(8, 24));
  for (const char* wrong : {"eight\n", "8 9\n", "-8\n", "0\n", "8.5\n", "99999999999999999999\n"})
    EXPECT_THAT(refusal([&] { sizes_in_file(file(wrong)); }), HasSubstr("line 1")) << wrong;
  EXPECT_NE(refusal([&] { sizes_in_file(file("\n# nothing\n")); }), "");
  EXPECT_THAT(refusal([] { sizes_in_file("/nowhere/sizes"); }), HasSubstr("cannot be read"));
}

TEST_F(Files, OfNames) {
  EXPECT_THAT(names_in_file(file("INT_PUT\nlong_get\nint_put\n"), known), ElementsAre("int_put", "long_get"));
  const std::string sentence = refusal([&] { names_in_file(file("long_get\nint_pat\n"), known); });
  EXPECT_THAT(sentence, HasSubstr("line 2"));
  EXPECT_THAT(sentence, HasSubstr("did you mean int_put?"));
}

TEST(Cores, AreAList) {
  EXPECT_THAT(cores("0,0"), ElementsAre(0));
  EXPECT_FALSE(cores("").empty());
  for (const char* wrong : {"a", "0-", "1-0", "99999", "-1", "0,,1"})
    EXPECT_NE(refusal([&] { cores(wrong); }), "") << wrong;
}

}  // namespace
}  // namespace plumb::shoms
