#include "benchmarks/shmem/device_exchange.hpp"

#include <algorithm>

#include "measure/clock.hpp"

namespace plumb {

DeviceExchange::DeviceExchange(Session& session, const std::vector<Message>& sends, std::size_t send_bytes,
                               const std::vector<Message>& receives, std::size_t receive_bytes, Traffic& traffic)
    : outgoing_(session.device.allocate(std::max<std::size_t>(send_bytes, 64), session.memory)),
      incoming_(session.device.allocate(std::max<std::size_t>(receive_bytes, 64), session.memory)),
      traffic_(traffic) {
  Step step;
  for (const Message& one : sends) {
    step.sends.push_back({one.peer, one.lane, {{outgoing_.get(), one.offset, one.bytes}}});
    sizes_.push_back(one.bytes);
  }
  for (const Message& one : receives)
    step.receives.push_back({one.peer, one.lane, {{incoming_.get(), one.offset, one.bytes}}});
  Exchange exchange;
  exchange.steps.push_back(std::move(step));
  exchange_ = session.transport->compile(exchange);
}

void DeviceExchange::set_sizes(const std::vector<std::size_t>& sends, const std::vector<std::size_t>& receives) {
  exchange_->set_sizes({{sends, receives}});
  sizes_ = sends;
}

void DeviceExchange::start(Queue& queue) {
  for (const std::size_t bytes : sizes_) traffic_.bytes += static_cast<double>(bytes);
  traffic_.messages += static_cast<double>(sizes_.size());
  const double begin = now_seconds();
  exchange_->start_after(queue, 0, 1);
  traffic_.exposed_seconds += now_seconds() - begin;
}

void DeviceExchange::wait() {
  const double begin = now_seconds();
  exchange_->wait();
  traffic_.exposed_seconds += now_seconds() - begin;
}

}  // namespace plumb
