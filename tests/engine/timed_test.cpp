#include "measure/timed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "measure/benchmark.hpp"
#include "tests/engine/refusal.hpp"

namespace plumb {
namespace {

TEST(Timed, KeepsEachLifeOfAPhase) {
  Timed timed({1, {"panel", "update"}});
  const std::size_t panel = timed.number_of("panel"), update = timed.number_of("update");
  for (int i = 0; i < 3; ++i) const auto life = timed.phase(panel);
  EXPECT_EQ(timed.spans(panel).size(), 3u);
  EXPECT_TRUE(timed.spans(update).empty());
  for (const Span& span : timed.spans(panel)) EXPECT_LE(span.begin, span.end);
}

TEST(Timed, RefusesWhatIsNoPhase) {
  Timed timed({1, {"panel", "update"}});
  EXPECT_EQ(refusal([&] { timed.end(0); }), "phase panel ends without a begin");
  timed.begin(0);
  EXPECT_EQ(refusal([&] { timed.begin(0); }), "phase panel begins twice without an end");
  timed.end(0);
  EXPECT_EQ(refusal([&] { timed.end(0); }), "phase panel ends without a begin") << "a phase that ended twice";
  EXPECT_EQ(refusal([&] { timed.number_of("panle"); }), "undeclared phase panle (declared: panel, update)");
}

TEST(Timed, AScopeLeavesAPhaseThatHasEnded) {
  Timed timed({1, {"panel"}});
  {
    const auto life = timed.phase(0);
    timed.end(0);
  }
  EXPECT_EQ(timed.spans(0).size(), 1u);
}

TEST(Timed, LapsAreOfOperationsWithoutPauses) {
  Timed timed({3, {}, true});
  const double begin = now_seconds();
  std::vector<double> ends;
  for (int i = 0; i < 3; ++i) {
    if (i == 1) {
      const Timed::Pause pause(timed);
      for (const double end = now_seconds() + 5e-3; now_seconds() < end;)
        ;
    }
    timed.lap();
  }
  timed.lap();  // more than operations: not kept
  const std::vector<double> laps = timed.laps(begin);
  ASSERT_EQ(laps.size(), 3u);
  EXPECT_GE(timed.paused_seconds(), 5e-3);
  double sum = 0;
  for (const double lap : laps) {
    EXPECT_GE(lap, 0);
    sum += lap;
  }
  EXPECT_LE(sum + timed.paused_seconds(), now_seconds() - begin + 1e-9);
}

TEST(Timed, WithoutLapsKeepsNone) {
  Timed timed({5, {}});
  timed.lap();
  EXPECT_TRUE(timed.laps(0).empty());
}

TEST(Timed, ThreadsHaveObjectsOfTheirOwn) {
  Timed timed({2, {"work"}, true, 3});
  for (unsigned thread = 0; thread < 3; ++thread) {
    const auto life = timed.thread(thread).phase(0);
    timed.thread(thread).lap();
  }
  EXPECT_EQ(timed.spans(0).size(), 3u);
  EXPECT_EQ(timed.laps(0).size(), 3u);
}

TEST(RankRule, NamesItsRuleAndLeavesOutWhatIsMissing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(reduced({1, nan, 4}, RankRule::sum), 5);
  EXPECT_EQ(reduced({1, nan, 4}, RankRule::slowest), 4);
  EXPECT_EQ(reduced({1, nan, 4}, RankRule::mean), 2.5);
  EXPECT_TRUE(std::isnan(reduced({nan}, RankRule::sum)));
}

}  // namespace
}  // namespace plumb
