// What an exchange asks of each lane, and what a pair of kernels cannot do.
#include <fmt/format.h>

#include "transport/channel/channel.hpp"

namespace plumb::channel {

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Unsupported(fmt::format("transport channel {}; use --transport staged or pipelined", what));
}

// Rounds of two lanes know nothing of each other.
void check_lanes(const std::vector<Lane>& lanes) {
  for (const Lane& lane : lanes) {
    for (const Lane& other : lanes)
      if (&lane != &other && lane.receive != nullptr &&
          ((other.send != nullptr && overlap(lane.receive->slots, other.send->slots)) ||
           (other.receive != nullptr && overlap(lane.receive->slots, other.receive->slots))))
        refuse("passes on what came in the same lane only");
  }
}

}  // namespace

std::vector<Lane> lanes_of(const Exchange& exchange) {
  std::map<int, Lane> lanes;
  for (std::size_t number = 0; number < exchange.steps.size(); ++number) {
    const Step& step = exchange.steps[number];
    std::map<int, Lane> before = lanes;
    for (const Transfer& receive : step.receives) {
      Lane& lane = lanes[receive.lane];
      if (lane.receive != nullptr) refuse("has one receive a lane in a round");
      lane.receive = &receive;
      lane.receive_step = number;
      lane.receive_number = static_cast<std::size_t>(&receive - step.receives.data());
      if (before[receive.lane].send != nullptr) lane.order = Order::send_first;
    }
    for (const Transfer& send : step.sends) {
      Lane& lane = lanes[send.lane];
      if (lane.send != nullptr) refuse("has one send a lane in a round");
      lane.send = &send;
      lane.send_step = number;
      lane.send_number = static_cast<std::size_t>(&send - step.sends.data());
      if (before[send.lane].receive != nullptr) lane.order = Order::receive_first;
    }
  }
  std::vector<Lane> list;
  for (auto& [number, lane] : lanes) {
    lane.number = number;
    list.push_back(lane);
  }
  check_lanes(list);
  return list;
}

}  // namespace plumb::channel
