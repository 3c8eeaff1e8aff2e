// Messages of the NPB on N ranks, in every form: what is sent arrives, in order, whatever the ranks do in between.
#include <gtest/gtest.h>

#include "benchmarks/shmem/npb/messages.hpp"
#include "core/data.hpp"
#include "device/select.hpp"
#include "tests/engine/ranks_fixture.hpp"
#include "transport/transport.hpp"

namespace plumb::npb {
namespace {

class NpbMessages : public ::testing::TestWithParam<Form> {
 protected:
  void SetUp() override {
    const DeviceCatalogue catalogue;
    device_ = catalogue.open(catalogue.choose({"native", "", "", "native"}, rank(), ranks(), 0));
    transport_ = make_host_transport(test_world(), *device_);
    session_.reset(new Session{test_world(), *device_, transport_.get(), {}});
  }
  void make(const std::vector<Link>& out, const std::vector<Link>& in) {
    messages_ = make_messages(GetParam(), *session_, out, in);
  }
  static int rank() { return test_world().rank(); }
  static int ranks() { return test_world().size(); }
  static Provenance id(int from, int tag, std::uint64_t number) {
    return {7, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(tag), 0, number};
  }
  void send(std::size_t i, int tag, std::uint64_t number, std::size_t bytes) {
    fill_message(messages_->outgoing(i).first(bytes), id(rank(), tag, number));
    messages_->post(i, bytes);
  }
  void check(std::size_t j, int from, int tag, std::uint64_t number, std::size_t bytes) {
    const auto got = messages_->take(j);
    ASSERT_EQ(got.size(), bytes);
    ASSERT_EQ(compare_message(got, id(from, tag, number)).wrong, 0u) << "of message " << number << " from " << from;
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Messages> messages_;
};

// Both neighbours of a ring, with messages of every size up to the links', some of them empty.
TEST_P(NpbMessages, GoRoundARing) {
  if (ranks() == 1) GTEST_SKIP() << "a rank sends nothing to itself";
  const int right = (rank() + 1) % ranks(), left = (rank() + ranks() - 1) % ranks();
  constexpr std::size_t bytes = 100000;
  make({{right, 0, bytes}, {left, 1, bytes}}, {{left, 0, bytes}, {right, 1, bytes}});
  const auto size_of = [](std::uint64_t round) { return round % 5 == 0 ? bytes : round * 997 % bytes; };
  for (std::uint64_t round = 0; round < 40; ++round) {
    for (std::size_t link : {0, 1}) messages_->expect(link, size_of(round));
    for (std::size_t link : {0, 1}) send(link, static_cast<int>(link), round, size_of(round));
    messages_->meet();
    check(0, left, 0, round, size_of(round));
    if (round % 3 == 0) messages_->arrived(1);
    check(1, right, 1, round, size_of(round));
  }
  messages_->complete();
  EXPECT_EQ(messages_->messages_sent(), 80u);
  EXPECT_GT(messages_->exposed_seconds(), 0);
}

// A wavefront: rank r works on plane k at stage k + r, and sends it on; several messages of a link are under way.
TEST_P(NpbMessages, FormAPipeline) {
  constexpr std::uint64_t planes = 50;
  constexpr std::size_t bytes = 808;
  std::vector<Link> out, in;
  if (rank() + 1 < ranks()) out.push_back({rank() + 1, 3, bytes, 3});
  if (rank() > 0) in.push_back({rank() - 1, 3, bytes, 3});
  make(out, in);
  std::uint64_t expected = 0;
  for (std::uint64_t stage = 0; stage + 1 < planes + static_cast<std::uint64_t>(ranks()); ++stage) {
    const std::uint64_t plane = stage - static_cast<std::uint64_t>(rank());  // may be far too large: not begun
    for (; !in.empty() && expected < std::min<std::uint64_t>(planes, plane < planes ? plane + 3 : 3); ++expected)
      messages_->expect(0);
    if (plane < planes) {
      if (!in.empty()) check(0, rank() - 1, 3, plane, bytes);
      if (!out.empty()) send(0, 3, plane, bytes);
    }
    messages_->meet();
  }
  messages_->complete();
}

// Every rank to every other, sizes by both ends; the objects come and go.
TEST_P(NpbMessages, GoFromAllToAll) {
  std::vector<Link> links;
  for (int peer = 0; peer < ranks(); ++peer)
    if (peer != rank()) links.push_back({peer, 9, 4096});
  const auto size_of = [](int from, int to) { return static_cast<std::size_t>(from * 100 + to * 7); };
  for (std::uint64_t time = 0; time < 3; ++time) {
    make(links, links);
    for (std::size_t j = 0; j < links.size(); ++j) messages_->expect(j, size_of(links[j].peer, rank()));
    for (std::size_t i = 0; i < links.size(); ++i) send(i, 9, time, size_of(rank(), links[i].peer));
    messages_->meet();
    for (std::size_t j = links.size(); j-- > 0;) check(j, links[j].peer, 9, time, size_of(links[j].peer, rank()));
    messages_->complete();
    messages_.reset();
  }
}

TEST_P(NpbMessages, RefuseWhatIsWrong) {
  make({}, {});
  messages_->complete();
  EXPECT_THROW(make({{(rank() + 1) % ranks(), 0, 8}}, {}), Error) << "a link with one end";
  EXPECT_THROW(make({{(rank() + 1) % ranks(), 0, 0}}, {}), Error) << "a link without room";
  if (ranks() < 2) return;
  make({{(rank() + 1) % ranks(), 0, 8}}, {{(rank() + ranks() - 1) % ranks(), 0, 8}});
  EXPECT_THROW(messages_->take(0), Error) << "it was not expected";
  messages_->expect(0);
  EXPECT_THROW(messages_->expect(0), Error) << "there is room for one";
  EXPECT_THROW(messages_->complete(), Error) << "it was not taken";
  send(0, 0, 0, 8);
  messages_->meet();
  check(0, (rank() + ranks() - 1) % ranks(), 0, 0, 8);
  messages_->complete();
}

std::string name_of_form(const ::testing::TestParamInfo<Form>& form) {
  return form.param == Form::two_sided ? "TwoSided" : form.param == Form::signal ? "Signal" : "Barrier";
}

INSTANTIATE_TEST_SUITE_P(Forms, NpbMessages, ::testing::Values(Form::two_sided, Form::signal, Form::barrier),
                         name_of_form);

}  // namespace
}  // namespace plumb::npb
