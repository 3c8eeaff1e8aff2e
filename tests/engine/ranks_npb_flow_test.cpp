// The flow of BT, SP and LU on N ranks, in every form: the field is that of one rank, whatever the cut.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "benchmarks/shmem/npb/flow_benchmark.hpp"
#include "device/select.hpp"
#include "tests/engine/ranks_fixture.hpp"
#include "transport/transport.hpp"

namespace plumb::npb {
namespace {

class NpbFlowOnRanks : public ::testing::TestWithParam<std::tuple<Method, Form>> {};

TEST_P(NpbFlowOnRanks, IsThatOfOneRank) {
  constexpr int n = 13, steps = 3;
  const auto [method, form] = GetParam();
  const int rank = test_world().rank(), ranks = test_world().size();
  const DeviceCatalogue catalogue;
  const auto device = catalogue.open(catalogue.choose({"native", "", "", "native"}, rank, ranks, 0));
  const auto transport = make_host_transport(test_world(), *device);
  Session session{test_world(), *device, transport.get(), {}};
  const Parts just_run = [](std::size_t, const std::function<void()>& work) { work(); };

  const Scheme scheme(n, .004);
  const auto all = flow_kind(method).make(scheme, 1, 0), mine = flow_kind(method).make(scheme, ranks, rank);
  const auto messages = make_messages(form, session, mine->outgoing(), mine->incoming());
  for (Flow* flow : {all.get(), mine.get()}) {
    flow->begin();
    for (int time = 0; time < 2; ++time) {  // links are used again
      flow->restart();
      flow->open(flow == mine.get() ? messages.get() : nullptr, steps);
      for (int step = 0; step < steps; ++step) flow->step(just_run);
      if (flow == mine.get()) messages->complete();
    }
  }
  const Tile& whole = all->tiles().front();
  std::uint64_t points = 0, wrong = 0;
  for (const Tile& tile : mine->tiles())
    tile.box().for_each([&](const Place& at) {
      const Point is = tile.state(at), should_be = whole.state(at);
      for (std::size_t m = 0; m < variables; ++m, ++points)
        wrong += std::abs(is[m] - should_be[m]) <= 1e-11 * std::abs(should_be[m]) ? 0 : 1;
    });
  EXPECT_EQ(wrong, 0u) << "of " << points;
  EXPECT_EQ(messages->messages_sent() > 0, ranks > 1);
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<Method, Form>>& one) {
  const Form form = std::get<1>(one.param);
  return flow_kind(std::get<0>(one.param)).facts.name.substr(4) + (form == Form::two_sided ? "TwoSided"
                                                                   : form == Form::signal  ? "Signal"
                                                                                           : "Barrier");
}

INSTANTIATE_TEST_SUITE_P(All, NpbFlowOnRanks,
                         ::testing::Combine(::testing::Values(Method::bt, Method::sp, Method::lu),
                                            ::testing::Values(Form::two_sided, Form::signal, Form::barrier)),
                         name_of);

}  // namespace
}  // namespace plumb::npb
