#include "transport/port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/embedded.hpp"
#include "transport/walk.hpp"

namespace plumb {

namespace {

class PortExchange : public WalkedExchange {
 public:
  PortExchange(const Exchange& exchange, std::unique_ptr<Port> port)
      : WalkedExchange(walk_by_rounds(exchange, all_rounds, "kernels that exchange with a neighbour")),
        port_(std::move(port)),
        window_(exchange.window) {}

 private:
  void start_step(std::size_t, std::uint64_t first, std::uint64_t end) override {
    port_->start(first, end - first, [&](int) { return std::vector<KernelArgument>{end - first, window_}; });
  }
  bool test_step(std::size_t) override { return port_->finished(); }
  void wait_step(std::size_t) override { port_->finish(); }
  void resize(const std::vector<StepSizes>& sizes) override { port_->set_sizes(sizes); }
  bool follow(Queue& queue) override {
    port_->follow(queue);
    return true;
  }
  bool lead(Queue& queue) override {
    port_->lead(queue);
    return true;
  }

  std::unique_ptr<Port> port_;
  std::uint64_t window_;
};

[[noreturn]] void refuse(const std::string& subject, const char* what, const std::string& remedy) {
  throw Unsupported(fmt::format("{} {}; {}", subject, what, remedy));
}

// Whether one lane sends on messages of another: their kernels are not synchronised.
bool depends_on_another(const std::vector<Lane>& lanes) {
  for (const Lane& lane : lanes)
    for (const Lane& other : lanes)
      if (&lane != &other && lane.receive != nullptr && other.send != nullptr &&
          overlap(lane.receive->slots, other.send->slots))
        return true;
  return false;
}

// Whether messages of two lanes share a place in some rounds.
bool come_to_one_place(const Exchange& exchange) {
  std::vector<const Slots*> receives;
  for (const Step& step : exchange.steps)
    for (const Transfer& receive : step.receives) {
      for (const Slots* other : receives)
        if (overlap(receive.slots, *other)) return true;
      receives.push_back(&receive.slots);
    }
  return false;
}

}  // namespace

std::vector<Lane> lanes_of(const Exchange& exchange, const std::string& subject, const std::string& remedy) {
  std::map<int, Lane> lanes;
  for (std::size_t step = 0; step < exchange.steps.size(); ++step) {
    const std::map<int, Lane> before = lanes;
    const auto had = [&](int lane, const Transfer* Lane::*which) {
      const auto found = before.find(lane);
      return found != before.end() && found->second.*which != nullptr;
    };
    const auto &receives = exchange.steps[step].receives, &sends = exchange.steps[step].sends;
    for (std::size_t i = 0; i < receives.size(); ++i) {
      Lane& lane = lanes[receives[i].lane];
      if (lane.receive != nullptr) refuse(subject, "has one receive a lane in a round", remedy);
      lane.receive = &receives[i];
      lane.receive_step = step;
      lane.receive_number = i;
      if (had(receives[i].lane, &Lane::send)) lane.order = Lane::Order::send_first;
    }
    for (std::size_t i = 0; i < sends.size(); ++i) {
      Lane& lane = lanes[sends[i].lane];
      if (lane.send != nullptr) refuse(subject, "has one send a lane in a round", remedy);
      lane.send = &sends[i];
      lane.send_step = step;
      lane.send_number = i;
      if (had(sends[i].lane, &Lane::receive)) lane.order = Lane::Order::receive_first;
    }
  }
  std::vector<Lane> list;
  for (auto& [number, lane] : lanes) {
    lane.number = number;
    list.push_back(lane);
  }
  if (depends_on_another(list)) refuse(subject, "passes messages on within a lane only", remedy);
  return list;
}

Port::Port(const Exchange& exchange) : most_(exchange.rounds()), one_at_a_time_(come_to_one_place(exchange)) {}

void Port::start(std::uint64_t first, std::uint64_t count, const OwnArguments& own) {
  if (!ends_.empty() && (first > most_ || count > most_ - first))
    throw Error(fmt::format("kernels were started for rounds {} to {}, but the slots have room for {} rounds", first,
                            first + count - 1, most_));
  if (count > 1 && one_at_a_time_)
    throw Unsupported(
        "kernels that make several rounds by themselves need a separate place for the messages of each lane: start one "
        "round at a time, or use another approach");
  begin_run();
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    End& end = ends_[i];
    std::vector<KernelArgument> all = own(end.lane.number);
    const std::vector<KernelArgument> of_port = arguments(i, first, count);
    all.insert(all.end(), of_port.begin(), of_port.end());
    end.kernel->set(all);
    end.queue->enqueue(*end.kernel, end.range);
    end.queue->finished();  // submits it
  }
  count_ = count;
  running_ = true;
}

bool Port::finished() {
  if (!running_) return true;
  for (End& end : ends_)
    if (!end.queue->finished()) return false;
  complete();
  return true;
}

void Port::finish() {
  if (!running_) return;
  for (End& end : ends_) end.queue->finish();
  complete();
}

void Port::complete() {
  running_ = false;
  end_run(count_);
}

void Port::set_sizes(const std::vector<StepSizes>& sizes) {
  for (End& end : ends_)
    end.bytes = end.sends ? sizes.at(end.lane.send_step).sends.at(end.lane.send_number)
                          : sizes.at(end.lane.receive_step).receives.at(end.lane.receive_number);
}

std::uint64_t Port::groups() const {
  std::uint64_t groups = 0;
  for (const End& end : ends_) groups += end.range.global / std::max<std::size_t>(1, end.range.local);
  return groups;
}

void Port::follow(Queue& earlier) {
  if (keeps_order_) return earlier.finish();
  for (End& end : ends_) end.queue->follow(earlier);
}

void Port::lead(Queue& later) {
  for (End& end : ends_) later.follow(*end.queue);
}

std::unique_ptr<CompiledExchange> exchange_by_port(const Exchange& exchange, std::unique_ptr<Port> port) {
  return std::make_unique<PortExchange>(exchange, std::move(port));
}

KernelSource rounds_source() {
  KernelSource source{"rounds.cl", embedded_text("engine/transport/rounds.cl")};
  source.hls = source.opencl;  // has words of the port only
  return source;
}

}  // namespace plumb
