#include "benchmarks/device/links/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "core/units.hpp"
#include "transport/idle.hpp"
#include "world/collect.hpp"

namespace plumb::links {

namespace {

using b_eff::LaneBuffers;
using b_eff::Pattern;

constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20;  // of a lane's slots beyond its messages
constexpr std::size_t short_bytes = 2048;                      // sent by MPI without the receiver's help
constexpr std::uint64_t between_looks = 16;  // relays between two whose legs are timed: reading the clocks costs 1 us
constexpr const char* legs[]{"read", "exchange", "write"};

}  // namespace

std::vector<std::uint64_t> Links::sizes() const {
  std::vector<std::uint64_t> sizes;
  std::istringstream words(sizes_.get());
  for (std::string word; std::getline(words, word, ',');) {
    const auto read = read_written(word);
    if (!read || read->value < 1 || read->value > std::int64_t{1} << 30)
      throw UsageError(
          fmt::format("--sizes must be a comma-separated list of integers from 1 to 2^30 (bytes), not {}", word));
    sizes.push_back(static_cast<std::uint64_t>(read->value));
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

Pattern Links::pattern(std::uint64_t bytes, const Plan& plan) const {
  Pattern pattern;
  const bool random = ring_ == "random";
  pattern.place =
      b_eff::place_in(random ? b_eff::random_ring(plan.ranks, plan.seed) : b_eff::natural_ring(plan.ranks), plan.rank);
  pattern.rank = plan.rank;
  pattern.replications = static_cast<std::uint64_t>(replications_.get());
  pattern.bytes = bytes;
  pattern.rounds = std::clamp<std::uint64_t>(most_bytes / pattern.stride() / 8, 16, 4096);
  return pattern;
}

Case Links::make_case(std::uint64_t bytes, const Plan& plan) const {
  const Pattern p = pattern(bytes, plan);
  Case result;
  result.key = fmt::format("{}/{}/{}", ring_.get(), part_.get(), bytes);
  result.labels = {{"part", part_.get()}};
  if (beside_ == "all")
    result.labels["bytes"] = bytes;
  else
    result.labels.update({{"ring", ring_.get()}, {"message_bytes", bytes}});
  result.payload = Payload(Message{way(), bytes});
  result.items_to_check = p.lanes() * bytes;
  result.witnesses = p.lanes() * p.kept_bytes();
  result.most_operations = p.rounds;
  result.work.messages = p.lanes();
  result.work.bytes_sent = p.lanes() * bytes;
  if (way() != Way::exchange) result.work.bytes_read = result.work.bytes_written = p.lanes() * bytes;
  return result;
}

std::vector<Group> Links::groups(const Plan& plan) const {
  Group group;
  group.key = part_.get();
  for (const std::uint64_t bytes : sizes()) {
    group.cases.push_back(make_case(bytes, plan));
    const Pattern p = pattern(bytes, plan);
    group.device_bytes = std::max<std::uint64_t>(group.device_bytes, p.lanes() * p.lane_bytes());
    group.largest_buffer_bytes = std::max<std::uint64_t>(group.largest_buffer_bytes, p.lane_bytes());
    group.host_bytes = std::max<std::uint64_t>(group.host_bytes, p.pitch() + 2 * p.lanes() * bytes);
  }
  return {group};
}

void Links::prepare(Session& session, const Case& measured) {
  const auto& [way, bytes] = measured.payload.as<Message>();
  way_ = way;
  world_ = &session.world;
  pattern_ = pattern(bytes, {session.world.rank(), session.world.size(), session.seed});
  messages_ = session.world.bare_messages(2 * pattern_.lanes());
  if (!messages_) throw Unsupported("a world over " + session.world.info().kind + " has no bare messages");
  Placement memory = way_ == Way::exchange ? Placement{MemoryKind::host, {}} : session.memory;
  memory.shared = way_ == Way::copy;
  buffers_ = std::make_unique<LaneBuffers>(session.device, memory, pattern_.lanes(), pattern_.lane_bytes());
  queue_ = session.device.make_queue();
  // A device on this process's threads needs the core of a waiting MPI call.
  const std::size_t sent = way_ == Way::copy ? 1 : pattern_.bytes;
  yields_ = way_ != Way::exchange && has_threads_here(session.device.info()) && sent <= short_bytes;
  for (std::uint64_t i = 0; i < pattern_.lanes(); ++i) {
    const int right = pattern_.place.right(), left = pattern_.place.left();
    Lane lane{i % 2 == 0 ? right : left, i % 2 == 0 ? left : right, nullptr, nullptr};
    if (way_ != Way::exchange) {
      lane.sent = allocate_host(session.device, sent);
      lane.received = allocate_host(session.device, sent);
    }
    const int tag = static_cast<int>(i);
    receives_.push_back({lane.from, tag, lane.received ? lane.received->host_pointer() : nullptr, sent});
    sends_.push_back({lane.to, tag, lane.sent ? lane.sent->host_pointer() : nullptr, sent});
    lanes_.push_back(std::move(lane));
  }
  if (way_ == Way::copy) open_neighbours(session);
}

void Links::open_neighbours(Session& session) {
  if (world_->local_size() != world_->size())
    throw Unsupported("copies into a neighbour's memory need all ranks on one host");
  for (std::uint64_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i].queue = session.device.make_queue();
    const std::vector<std::string> handles = all_texts(*world_, session.device.share(buffers_->lane(i)));
    if (const int to = lanes_[i].to; to != world_->rank())
      lanes_[i].there = session.device.open_shared(handles[static_cast<std::size_t>(to)]);
  }
}

BufferView Links::slot(Buffer& buffer, std::uint64_t turn) const {
  const std::uint64_t areas = pattern_.areas();
  return {&buffer, turn % areas * pattern_.pitch() + turn / areas * pattern_.stride(), pattern_.bytes};
}

void Links::reset(Session& session, const Case&, std::uint64_t repetition, std::uint64_t count) {
  std::vector<std::byte> message(pattern_.bytes);
  for (std::uint64_t lane = 0; lane < pattern_.lanes(); ++lane) {
    for (std::uint64_t area = 0; area < pattern_.areas(); ++area)
      buffers_->poison(lane, area * pattern_.pitch(),
                       expected_in_area(pattern_, session.seed, repetition, count, lane, area));
    fill_message(message, message_of(pattern_, session.seed, repetition, lane, 0));
    buffers_->put(slot(lane, 0), message);
  }
}

void Links::run(Session&, const Case&, Timed& timed) {
  std::array<double, 4> times{};  // start of each leg of a relay, and its end
  std::array<double, 3> seconds{};
  const std::uint64_t look = std::min(between_looks / 2, timed.count() - 1);
  for (std::uint64_t turn = 0; turn < timed.count(); ++turn) {
    if (way_ != Way::relay) {
      way_ == Way::copy ? deliver(turn, yields_) : exchange(turn);
      continue;
    }
    const bool looks = turn % between_looks == look;
    relay(turn, looks ? times.data() : nullptr);
    for (std::size_t leg = 0; looks && leg < seconds.size(); ++leg) seconds[leg] += times[leg + 1] - times[leg];
  }
  for (std::size_t leg = 0; way_ == Way::relay && leg < seconds.size(); ++leg) timed.tally(legs[leg], seconds[leg]);
}

// Sends the message of `turn` on; the receiver stores it as that of the next turn. `times`, unless null, receives the
// start of each leg and the end of the last.
void Links::relay(std::uint64_t turn, double* times) {
  if (times != nullptr) times[0] = now_seconds();
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
    queue_->enqueue_read(slot(lane, turn), lanes_[lane].sent->host_pointer());
  queue_->finish();
  if (times != nullptr) times[1] = now_seconds();
  deliver(turn, yields_);
  if (times != nullptr) times[2] = now_seconds();
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
    queue_->enqueue_write(lanes_[lane].received->host_pointer(), slot(lane, turn + 1));
  queue_->finish();
  if (times != nullptr) times[3] = now_seconds();
}

void Links::exchange(std::uint64_t turn) {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    sends_[lane].at = slot(lane, turn).host_pointer();
    receives_[lane].at = slot(lane, turn + 1).host_pointer();
  }
  deliver(turn, false);
}

// A copied message is complete before its announcement is sent. The next turn overwrites what the neighbours sent in
// this one, and each has announced its own.
void Links::deliver(std::uint64_t turn, bool yields) {
  for (std::size_t i = 0; way_ == Way::copy && i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    lane.queue->enqueue_copy(slot(i, turn), slot(lane.there ? *lane.there : buffers_->lane(i), turn + 1));
  }
  for (const Lane& lane : lanes_)
    if (lane.queue) lane.queue->finish();
  messages_->exchange(receives_, sends_, yields);
}

Validation Links::validate(Session& session, const Case&, std::uint64_t repetition, std::uint64_t count) {
  Validation found;
  found.reference = "every byte of the last messages, and the first bytes of each round's, recomputed";
  for (std::uint64_t lane = 0; lane < pattern_.lanes(); ++lane)
    for (std::uint64_t area = 0; area < pattern_.areas(); ++area)
      buffers_->check(lane, area * pattern_.pitch(),
                      expected_in_area(pattern_, session.seed, repetition, count, lane, area), found);
  return found;
}

void Links::release() {
  receives_.clear();
  sends_.clear();
  lanes_.clear();
  if (way_ == Way::copy && world_ != nullptr) world_->barrier();  // all have closed the memory: its owner may free it
  buffers_.reset();
  queue_.reset();
  messages_.reset();
}

std::vector<Metric> Links::metrics(const CaseResult& result, int) const {
  const auto bytes = static_cast<double>(result.measured->work.bytes_sent);
  return {{"time_per_message_median", result.median_seconds() / micro, "us",
           "one message to each neighbour; median repetition, slowest rank"},
          {"bandwidth_per_rank", bytes / result.best_seconds() / giga, "GB/s",
           "bytes sent by one rank / t; best repetition, slowest rank"}};
}

namespace {

const RegisteredBenchmark registered_links("links", [] { return std::make_unique<Links>(); });

}  // namespace

}  // namespace plumb::links
