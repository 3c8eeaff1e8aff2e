#include "transport/walk.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "world/watchdog.hpp"

namespace plumb {

namespace {

// The watchdog's clock costs as much as a tenth of a short message: it is told of each only where they are long.
std::uint64_t steps_between_signs(const Exchange& exchange) {
  constexpr std::uint64_t bytes = 16 << 20, most = 1024;
  return std::clamp<std::uint64_t>(bytes / (exchange.window * std::max<std::size_t>(1, exchange.largest_message())), 1,
                                   most);
}

}  // namespace

Walk walk_by_step(const Exchange& exchange, const char* waited_for) {
  return {exchange.steps.size(), exchange.window, exchange.rounds(), steps_between_signs(exchange), waited_for};
}

Walk walk_by_rounds(const Exchange& exchange, std::uint64_t rounds, const char* waited_for) {
  const std::uint64_t windows = std::max<std::uint64_t>(1, rounds / exchange.window);
  return {exchange.steps.empty() ? std::size_t{0} : 1, windows * exchange.window, exchange.rounds(), 1, waited_for};
}

void WalkedExchange::start(std::uint64_t first, std::uint64_t count) {
  if (walk_.steps > 0 && (first > walk_.most || count > walk_.most - first))
    throw Error(fmt::format("an exchange was started for rounds {} to {}, but its slots have room for {} rounds", first,
                            first + count - 1, walk_.most));
  round_ = first;
  end_ = walk_.steps == 0 ? first : first + count;
  step_ = 0;
  if (round_ < end_) begin_step();
}

bool WalkedExchange::test() {
  while (round_ < end_) {
    if (!test_step(step_)) return false;
    advance();
    if (walk_.blocking) break;
  }
  return round_ >= end_;
}

void WalkedExchange::wait() {
  if (round_ >= end_) return;
  const Waiting waiting(walk_.waited_for);
  for (std::uint64_t steps = 1; round_ < end_; ++steps) {
    wait_step(step_);
    if (steps == walk_.sign_of) {
      Waiting::progress();
      steps = 0;
    }
    advance();
  }
}

void WalkedExchange::begin_step() {
  if (step_ == 0) until_ = round_ + std::min(end_ - round_, walk_.at_once);
  start_step(step_, round_, until_);
}

void WalkedExchange::advance() {
  if (++step_ == walk_.steps) {
    step_ = 0;
    round_ = until_;
    if (round_ >= end_) return;
  }
  begin_step();
}

}  // namespace plumb
