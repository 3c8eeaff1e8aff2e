#include "benchmarks/device/noise/noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/data.hpp"
#include "core/units.hpp"
#include "measure/clock.hpp"

namespace plumb::noise {

namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);
// Detours are counted in classes that double: below 1 us, below 2 us, ..., below 32768 us, and longer.
constexpr int classes = 16;

std::string class_name(int number) {
  return number < classes ? fmt::format("below_{}_us", 1 << number) : fmt::format("above_{}_us", 1 << (classes - 1));
}

int class_of(double seconds) {
  const double us = seconds / micro;
  return us < 1 ? 0 : std::min(classes, 1 + static_cast<int>(std::log2(us)));
}

// Ranks in pairs: 0 with 1, 2 with 3; an odd last rank has no partner.
int partner_of(int rank, int ranks) {
  const int partner = rank ^ 1;
  return partner < ranks ? partner : -1;
}

bool pings(int rank) {
  return rank % 2 == 0;
}

std::uint64_t word_at(const std::byte* bytes, std::uint64_t index) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes + index * word_bytes, word_bytes);
  return word;
}

void set_word(std::byte* bytes, std::uint64_t index, std::uint64_t word) {
  std::memcpy(bytes + index * word_bytes, &word, word_bytes);
}

// Word of a pair's messages, by sender, repetition and position.
std::uint64_t message_word(std::uint64_t seed, int pair, std::uint64_t repetition, std::uint64_t place) {
  return mix64(mix64(seed ^ (static_cast<std::uint64_t>(pair) << 40) ^ (repetition << 8)) + place);
}

}  // namespace

std::uint64_t steps_taken(std::uint64_t x, std::uint64_t steps) {
  for (std::uint64_t i = 0; i < steps; ++i) x = x * factor + addend;
  return x;
}

std::uint64_t steps_jumped(std::uint64_t x, std::uint64_t steps) {
  std::uint64_t a = factor, c = addend;  // 2^k steps combined
  for (; steps > 0; steps >>= 1) {
    if ((steps & 1) != 0) x = x * a + c;
    c = (a + 1) * c;
    a *= a;
  }
  return x;
}

Preset Noise::preset(const std::string& name) const {
  if (name == "smoke") return {{"time-limit", "0.5"}, {"confidence", "0.000001"}};
  return {{"time-limit", name == "full" ? "60" : "5"}, {"confidence", "0.000001"}, {"max-repetitions", "100000"}};
}

std::vector<Group> Noise::groups(const Plan& plan) const {
  Group core{"core", {core_case()}}, memory{"memory", {memory_case()}}, link{"link", {link_case(plan)}};
  core.host_bytes = static_cast<std::uint64_t>(quanta_.get()) * word_bytes;
  memory.largest_buffer_bytes = static_cast<std::uint64_t>(slices_.get()) << slice_.get();
  memory.device_bytes = 2 * memory.largest_buffer_bytes;
  link.largest_buffer_bytes = link_bytes();
  link.device_bytes = 2 * link_bytes();
  std::vector<Group> groups{core, memory};
  if (plan.ranks > 1) groups.push_back(link);
  return groups;
}

Case Noise::core_case() const {
  Case core;
  core.key = "core";
  core.labels = {{"part", "core"}, {"steps", steps_.get()}};
  core.items_to_check = core.witnesses = 1;
  core.fixed_count = static_cast<std::uint64_t>(quanta_.get());
  core.laps = true;
  return core;
}

Case Noise::memory_case() const {
  Case memory;
  memory.key = "memory";
  const std::uint64_t bytes = std::uint64_t{1} << slice_.get();
  memory.labels = {{"part", "memory"}, {"bytes", bytes}};
  memory.work.bytes_read = memory.work.bytes_written = bytes;
  memory.items_to_check = memory.witnesses = bytes / word_bytes;
  memory.fixed_count = static_cast<std::uint64_t>(slices_.get());
  memory.laps = true;
  return memory;
}

Case Noise::link_case(const Plan& plan) const {
  Case link;
  link.key = "link";
  const std::uint64_t bytes = std::uint64_t{1} << message_.get(), rounds = static_cast<std::uint64_t>(rounds_.get());
  link.labels = {{"part", "link"}, {"message_bytes", bytes}, {"rounds", rounds}};
  const bool paired = partner_of(plan.rank, plan.ranks) >= 0;
  if (paired) {
    link.work.bytes_sent = bytes * rounds;
    link.work.messages = rounds;
    link.items_to_check = link.witnesses = bytes * rounds / word_bytes;
  }
  link.fixed_count = static_cast<std::uint64_t>(quanta_.get());
  link.laps = true;
  return link;
}

std::uint64_t Noise::link_bytes() const {
  return static_cast<std::uint64_t>(quanta_.get() * rounds_.get()) << message_.get();
}

std::uint64_t Noise::start_of(const Session& session) const {
  return mix64(session.seed ^ (static_cast<std::uint64_t>(session.world.rank()) << 40) ^ (repetition_ << 8));
}

void Noise::prepare(Session& session, const Case& measured) {
  repetition_ = 0;
  if (measured.key == "core") {
    states_.assign(measured.fixed_count, 0);
    return;
  }
  const std::uint64_t bytes = measured.key == "memory" ? measured.fixed_count << slice_.get() : link_bytes();
  from_ = session.device.allocate(bytes, session.memory);
  to_ = session.device.allocate(bytes, session.memory);
  if (from_->host_pointer() == nullptr || to_->host_pointer() == nullptr)
    throw Unsupported("noise measures memory that the host can address: use --runtime native");
  for (std::uint64_t i = 0; i < bytes / word_bytes; ++i) {
    set_word(from_->host_pointer(), i, mix64(start_of(session) + i));
    set_word(to_->host_pointer(), i, 0);
  }
  if (measured.key == "link") prepare_link(session);
}

// A round: a message of the even rank, returned by the odd one.
void Noise::prepare_link(Session& session) {
  const int rank = session.world.rank(), partner = partner_of(rank, session.world.size());
  const std::size_t bytes = std::size_t{1} << message_.get();
  const auto slots = [&](Buffer& buffer) { return Slots{{&buffer, 0, bytes}, 1, buffer.size(), bytes}; };
  Exchange exchange;
  if (partner >= 0 && pings(rank)) {
    exchange.steps = {{{{partner, 0, slots(*from_)}}, {}}, {{}, {{partner, 1, slots(*to_)}}}};
  } else if (partner >= 0) {
    exchange.steps = {{{}, {{partner, 0, slots(*to_)}}}, {{{partner, 1, slots(*to_)}}, {}}};
  }
  exchange_ = session.transport->compile(exchange);
}

void Noise::reset(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t) {
  repetition_ = repetition;
  if (measured.key == "core") {
    std::fill(states_.begin(), states_.end(), 0);
  } else if (measured.key == "link") {
    const int rank = session.world.rank();
    std::byte *const from = from_->host_pointer(), *const to = to_->host_pointer();
    for (std::uint64_t i = 0; i < link_bytes() / word_bytes; ++i) {
      if (pings(rank)) set_word(from, i, message_word(session.seed, rank / 2, repetition, i));
      set_word(to, i, ~message_word(session.seed, rank / 2, repetition, i));
    }
  }
  // In each repetition a slice of the target gets another slice of the source.
}

void Noise::memory_quantum(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void Noise::run(Session& session, const Case& measured, Timed& timed) {
  const std::uint64_t count = timed.count();
  const auto rounds = static_cast<std::uint64_t>(rounds_.get());
  const bool paired = partner_of(session.world.rank(), session.world.size()) >= 0;
  std::uint64_t x = start_of(session);
  const double begin = now_seconds();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (measured.key == "core") {
      states_[i] = x = core_quantum(x, static_cast<std::uint64_t>(steps_.get()));
    } else if (measured.key == "memory") {
      const std::size_t bytes = std::size_t{1} << slice_.get();
      memory_quantum(to_->host_pointer() + i * bytes, from_->host_pointer() + (i + repetition_) % count * bytes, bytes);
    } else if (paired) {
      link_quantum(*exchange_, i * rounds, rounds);
    } else {
      return;
    }
    timed.lap();
  }
  const Timed::Pause pause(timed);
  tell_detours(timed, begin);
}

// Number of quanta of the sample longer than its shortest, and their excess, by class.
void Noise::tell_detours(Timed& timed, double begin) const {
  const std::vector<double> laps = timed.laps(begin);
  if (laps.empty()) return;
  const double least = *std::min_element(laps.begin(), laps.end());
  for (const double lap : laps) {
    const std::string name = class_name(class_of(lap - least));
    timed.tally("detours/" + name, 1);
    timed.tally("lost_s/" + name, lap - least);
  }
}

Validation Noise::validate(Session& session, const Case& measured, std::uint64_t, std::uint64_t count) {
  Validation found = measured.key == "core"     ? validate_core(session, count)
                     : measured.key == "memory" ? validate_memory(count)
                                                : validate_link(session, count);
  found.error = static_cast<double>(found.wrong_items);
  return found;
}

Validation Noise::validate_core(const Session& session, std::uint64_t count) const {
  Validation found;
  found.reference = "all steps of a quantum taken by squaring";
  const auto steps = static_cast<std::uint64_t>(steps_.get());
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t should_be = steps_jumped(start_of(session), (i + 1) * steps);
    ++found.items_checked;
    if (states_[i] != should_be && found.wrong_items++ == 0)
      found.detail = fmt::format("after quantum {} the number is {:#x}, should be {:#x}", i, states_[i], should_be);
  }
  return found;
}

Validation Noise::validate_memory(std::uint64_t count) const {
  Validation found;
  found.reference = "the source's words";
  const std::uint64_t words = (std::uint64_t{1} << slice_.get()) / word_bytes;
  for (std::uint64_t i = 0; i < count * words; ++i) {
    const std::uint64_t source = (i + repetition_ * words) % (count * words);
    ++found.items_checked;
    if (word_at(to_->host_pointer(), i) != word_at(from_->host_pointer(), source) && found.wrong_items++ == 0)
      found.detail = fmt::format("word {} of the target is not word {} of the source", i, source);
  }
  return found;
}

Validation Noise::validate_link(const Session& session, std::uint64_t count) const {
  Validation found;
  found.reference = "the words sent by the even rank, recomputed";
  const int rank = session.world.rank();
  if (partner_of(rank, session.world.size()) < 0) return found;
  const std::uint64_t words = link_bytes() / static_cast<std::uint64_t>(quanta_.get()) * count / word_bytes;
  for (std::uint64_t i = 0; i < words; ++i) {
    const std::uint64_t should_be = message_word(session.seed, rank / 2, repetition_, i);
    ++found.items_checked;
    if (word_at(to_->host_pointer(), i) != should_be && found.wrong_items++ == 0)
      found.detail = fmt::format("word {} is {:#x}, should be {:#x}", i, word_at(to_->host_pointer(), i), should_be);
  }
  return found;
}

// Cycles of a step if known: on x86-64 a multiplication takes three, an addition one.
Json Noise::facts() const {
#if defined(__x86_64__)
  return {{"cycles_of_a_step", 4}};
#else
  return Json::object();
#endif
}

void Noise::release() {
  exchange_.reset();
  from_.reset();
  to_.reset();
  states_.clear();
}

std::vector<Metric> Noise::metrics(const CaseResult& result, int) const {
  const Case& measured = *result.measured;
  std::vector<Metric> metrics{
      {"quantum", result.median_seconds() / micro, "us", "mean quantum of the median repetition, slowest rank"}};
  if (result.laps && result.laps->mean > 0)
    metrics.push_back({"lost", 100 * (1 - result.laps->min / result.laps->mean), "%",
                       "share of the time beyond that of all quanta at the shortest's length, all ranks"});
  const auto bytes = static_cast<double>(measured.work.bytes_read + measured.work.bytes_written);
  if (measured.key == "memory")
    metrics.push_back({"bandwidth", bytes / result.median_seconds() / giga, "GB/s",
                       "bytes read and written by one rank / t; median repetition, slowest rank"});
  if (measured.key == "link")
    metrics.push_back({"round_trip", result.median_seconds() / static_cast<double>(rounds_.get()) / micro, "us",
                       "a message there and back; median repetition, slowest rank"});
  return metrics;
}

const RegisteredBenchmark registered_noise("noise", [] { return std::make_unique<Noise>(); });

}  // namespace plumb::noise
