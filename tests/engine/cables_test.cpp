// Cables between boards.
#include "transport/channel/cables.hpp"

#include <gtest/gtest.h>

#include "tests/engine/refusal.hpp"

namespace plumb::channel {

namespace {

TEST(Cables, LeadBothWaysByNumbersAndNames) {
  const std::vector<Board> boards = boards_of({"alpha", "alpha", "beta"}, {0, 1, 0});
  const Cables cables("n00:acl0:ch0=alpha:acl1:ch2,n00:acl1:ch0=beta:acl0:ch2");
  EXPECT_EQ(cables.problem(boards[0], 0, boards[1], 2), "");
  EXPECT_EQ(cables.problem(boards[1], 2, boards[0], 0), "");
  EXPECT_EQ(cables.problem(boards[1], 0, boards[2], 2), "");
  EXPECT_EQ(cables.problem(boards[2], 2, boards[1], 0), "");
}

TEST(Cables, ToAnotherPortOrNoneAreNamed) {
  const std::vector<Board> boards = boards_of({"alpha", "beta"}, {0, 0});
  const Cables cables("n00:acl0:ch0=n01:acl0:ch3");
  EXPECT_EQ(cables.problem(boards[0], 0, boards[1], 2),
            "what n00:acl0:ch0 sends must arrive at n01:acl0:ch2, but its cable leads to n01:acl0:ch3");
  EXPECT_EQ(cables.problem(boards[0], 1, boards[1], 3),
            "what n00:acl0:ch1 sends must arrive at n01:acl0:ch3, but no cable is in it");
  EXPECT_EQ(Cables().problem(boards[0], 1, boards[1], 3), "");
}

TEST(Cables, AreRefusedWithAnotherShapeOrAPortTwice) {
  EXPECT_EQ(refusal([] { Cables("n00:acl0:ch0-n01:acl0:ch2"); }),
            "--cables: a cable must be NODE:aclD:chP=NODE:aclD:chP, not 'n00:acl0:ch0-n01:acl0:ch2'");
  EXPECT_EQ(refusal([] { Cables("a:acl0:ch0=b:acl0:ch2,a:acl0:ch0=b:acl0:ch3"); }),
            "--cables: two cables are in a:acl0:ch0");
}

}  // namespace

}  // namespace plumb::channel
