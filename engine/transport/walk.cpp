#include "transport/walk.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace plumb {

namespace {

// The watchdog's clock costs up to a tenth of a short message: only long messages report progress at every step.
std::uint64_t steps_between_signs(const Exchange& exchange) {
  constexpr std::uint64_t bytes = 16 << 20, most = 1024;
  return std::clamp<std::uint64_t>(bytes / (exchange.window * std::max<std::size_t>(1, exchange.largest_message())), 1,
                                   most);
}

std::vector<StepSizes> sizes_of(const Exchange& exchange) {
  std::vector<StepSizes> sizes;
  for (const Step& step : exchange.steps) {
    StepSizes& one = sizes.emplace_back();
    for (const Transfer& send : step.sends) one.sends.push_back(send.slots.bytes());
    for (const Transfer& receive : step.receives) one.receives.push_back(receive.slots.bytes());
  }
  return sizes;
}

void check_sizes(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& compiled) {
  if (sizes.size() != compiled.size())
    throw Error(fmt::format("{} sizes of messages were given, but a step of the exchange has {}", sizes.size(),
                            compiled.size()));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] > compiled[i])
      throw Error(
          fmt::format("a message of {} bytes exceeds the {} bytes that it was compiled with", sizes[i], compiled[i]));
}

}  // namespace

Walk walk_by_step(const Exchange& exchange, const char* waited_for) {
  return {exchange.steps.size(), exchange.window, exchange.rounds(), steps_between_signs(exchange), waited_for, false,
          sizes_of(exchange)};
}

Walk walk_by_rounds(const Exchange& exchange, std::uint64_t rounds, const char* waited_for) {
  const std::uint64_t windows = std::max<std::uint64_t>(1, rounds / exchange.window);
  return {exchange.steps.empty() ? std::size_t{0} : 1,
          windows * exchange.window,
          exchange.rounds(),
          1,
          waited_for,
          false,
          sizes_of(exchange)};
}

void WalkedExchange::set_sizes(const std::vector<StepSizes>& sizes) {
  if (round_ < end_) throw Error("sizes of messages were set during a run");
  if (sizes.size() != walk_.sizes.size())
    throw Error(
        fmt::format("sizes were given for {} steps, but the exchange has {}", sizes.size(), walk_.sizes.size()));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    check_sizes(sizes[i].sends, walk_.sizes[i].sends);
    check_sizes(sizes[i].receives, walk_.sizes[i].receives);
  }
  resize(sizes);
}

void WalkedExchange::start_after(Queue& queue, std::uint64_t first, std::uint64_t count) {
  if (!follow(queue)) queue.finish();
  start(first, count);
}

void WalkedExchange::precede(Queue& queue) {
  if (round_ >= end_) return;
  const Waiting waiting(walk_.waited_for);
  while (until_ < end_ || step_ + 1 < walk_.steps) {
    wait_step(step_);
    Waiting::progress();
    advance(*this);
  }
  if (!lead(queue)) wait();
}

void WalkedExchange::start(std::uint64_t first, std::uint64_t count) {
  if (walk_.steps > 0 && (first > walk_.most || count > walk_.most - first))
    throw Error(fmt::format("an exchange was started for rounds {} to {}, but its slots have room for {} rounds", first,
                            first + count - 1, walk_.most));
  round_ = first;
  end_ = walk_.steps == 0 ? first : first + count;
  step_ = 0;
  if (round_ < end_) begin_step(*this);
}

bool WalkedExchange::test() {
  while (round_ < end_) {
    if (!test_step(step_)) return false;
    advance(*this);
    if (walk_.blocking) break;
  }
  return round_ >= end_;
}

void WalkedExchange::wait() {
  if (round_ >= end_) return;
  const Waiting waiting(walk_.waited_for);
  walk_to_end();
}

}  // namespace plumb
