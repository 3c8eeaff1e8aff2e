// GoogleTest on N ranks: every rank runs every test; a test fails when it fails on any rank, and each rank says its
// own.
#include <gtest/gtest.h>

#include "tests/engine/ranks_fixture.hpp"

namespace plumb {

namespace {

std::unique_ptr<World> the_world;

// After each test the ranks agree, so that none runs on into the next test against ranks that gave up.
class RanksAgree : public ::testing::EmptyTestEventListener {
  void OnTestEnd(const ::testing::TestInfo&) override { the_world->barrier(); }
};

}  // namespace

World& test_world() {
  return *the_world;
}

}  // namespace plumb

int plumb::run_rank_tests(int argc, char** argv, std::unique_ptr<World> world) {
  plumb::the_world = std::move(world);
  ::testing::InitGoogleTest(&argc, argv);
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (plumb::the_world->rank() != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new plumb::RanksAgree);
  const int failed = RUN_ALL_TESTS();
  if (failed != 0 && plumb::the_world->rank() != 0) {
    const auto& test = *::testing::UnitTest::GetInstance();
    for (int suite = 0; suite < test.total_test_suite_count(); ++suite)
      for (int i = 0; i < test.GetTestSuite(suite)->total_test_count(); ++i) {
        const auto* info = test.GetTestSuite(suite)->GetTestInfo(i);
        for (int part = 0; part < info->result()->total_part_count(); ++part)
          if (info->result()->GetTestPartResult(part).failed())
            std::fprintf(stderr, "rank %d: %s.%s: %s\n", plumb::the_world->rank(), info->test_suite_name(),
                         info->name(), info->result()->GetTestPartResult(part).summary());
      }
  }
  plumb::the_world.reset();
  return failed;
}
