#include "benchmarks/shmem/npb/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "measure/clock.hpp"
#include "world/one_sided.hpp"
#include "world/team.hpp"

namespace plumb::npb {

namespace {

constexpr int most_depth = 8, most_tags = 1000;

void check_link(const Link& link) {
  if (link.bytes == 0 || link.depth < 1 || link.depth > most_depth || link.tag < 0 || link.tag >= most_tags)
    throw Error(fmt::format("a link of {} B with tag {} and depth {} is impossible", link.bytes, link.tag, link.depth));
}

// Adds the seconds of its scope.
class Exposed {
 public:
  explicit Exposed(double& sum) : sum_(sum), begin_(now_seconds()) {}
  ~Exposed() { sum_ += now_seconds() - begin_; }
  Exposed(const Exposed&) = delete;
  Exposed& operator=(const Exposed&) = delete;

 private:
  double& sum_;
  double begin_;
};

}  // namespace

Form form_of(const std::string& name) {
  return name == "two-sided" ? Form::two_sided : name == "signal" ? Form::signal : Form::barrier;
}

const char* to_string(Form form) {
  return form == Form::two_sided ? "two-sided" : form == Form::signal ? "signal" : "barrier";
}

Messages::Messages(std::vector<Link> outgoing, std::vector<Link> incoming) {
  for (const Link& link : outgoing) check_link(link);
  for (const Link& link : outgoing) outgoing_.push_back({link});
  for (const Link& link : incoming) check_link(link);
  for (const Link& link : incoming)
    incoming_.push_back({link, 0, 0, std::vector<std::size_t>(static_cast<std::size_t>(link.depth))});
}

std::span<std::byte> Messages::outgoing(std::size_t i) {
  const Exposed exposed(exposed_);
  return do_outgoing(i, outgoing_.at(i).posted);
}

void Messages::post(std::size_t i, std::size_t bytes) {
  const Exposed exposed(exposed_);
  End& end = outgoing_.at(i);
  bytes = std::min(bytes, end.link.bytes);
  do_post(i, end.posted++, bytes);
  ++messages_;
  bytes_ += bytes;
}

void Messages::expect(std::size_t j, std::size_t bytes) {
  const Exposed exposed(exposed_);
  End& end = incoming_.at(j);
  if (end.posted - end.taken >= end.expected_bytes.size())
    throw Error(fmt::format("more than {} messages of a link are expected at a time", end.expected_bytes.size()));
  bytes = std::min(bytes, end.link.bytes);
  end.expected_bytes[end.posted % end.expected_bytes.size()] = bytes;
  do_expect(j, end.posted++, bytes);
}

bool Messages::arrived(std::size_t j) {
  const Exposed exposed(exposed_);
  return do_arrived(j, incoming_.at(j).taken);
}

std::span<const std::byte> Messages::take(std::size_t j) {
  const Exposed exposed(exposed_);
  End& end = incoming_.at(j);
  if (end.taken == end.posted) throw Error("a message is taken that was not expected");
  const std::uint64_t number = end.taken++;
  return do_take(j, number, end.expected_bytes[number % end.expected_bytes.size()]);
}

void Messages::meet() {
  const Exposed exposed(exposed_);
  do_meet();
}

void Messages::settle() {
  const Exposed exposed(exposed_);
  for (const End& end : incoming_)
    if (end.taken != end.posted) throw Error("a message was expected and never taken");
  do_settle();
}

void Messages::complete() {
  settle();
  const Exposed exposed(exposed_);
  do_complete();
}

std::vector<DeclaredLink> all_links(World& world, const std::vector<Link>& outgoing,
                                    const std::vector<Link>& incoming) {
  std::vector<DeclaredLink> mine;
  const auto declare = [&](const std::vector<Link>& links, std::int32_t sends) {
    for (const Link& link : links)
      mine.push_back({world.rank(), link.peer, link.tag, link.depth, static_cast<std::int32_t>(&link - links.data()),
                      sends, link.bytes});
  };
  declare(outgoing, 1);
  declare(incoming, 0);
  std::vector<int> ranks(static_cast<std::size_t>(world.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::vector<DeclaredLink> all = world.team(ranks)->all_gather(std::span<const DeclaredLink>(mine));

  std::map<std::tuple<int, int, int, int, std::uint64_t>, int> ends;  // 1 for a sender, 2 for a receiver
  for (const DeclaredLink& link : all)
    ends[{link.from(), link.to(), link.tag, link.depth, link.bytes}] += link.outgoing != 0 ? 1 : 2;
  for (const auto& [link, both] : ends)
    if (both != 3 || std::get<0>(link) == std::get<1>(link))
      throw Error(fmt::format("the link from rank {} to {} with tag {} has no two ends", std::get<0>(link),
                              std::get<1>(link), std::get<2>(link)));
  return all;
}

std::unique_ptr<Messages> make_messages(Form form, Session& session, const std::vector<Link>& outgoing,
                                        const std::vector<Link>& incoming) {
  if (form == Form::two_sided) return make_two_sided(session, outgoing, incoming);
  return (form == Form::signal ? make_signal : make_barrier)(session.world, nullptr, outgoing, incoming);
}

}  // namespace plumb::npb
