// What an engine does for each command.
#include <algorithm>
#include <cstring>

#include "transport/accl/engine.hpp"

namespace plumb::accl {

void Engine::execute(const Issued& issued) {
  ++counts_.commands;
  Ticket& ticket = *issued.ticket;
  const Command& command = issued.command;
  if (failed_) return end(ticket, status::packets_out_of_sequence);
  if (command.call == Call::nop) {
    ++counts_.nops;
    return end(ticket, status::done);
  }
  if (command.call == Call::config) return end(ticket, configure(command));
  const bool has_peer = command.call == Call::send || command.call == Call::recv || is_collective(command.call);
  if (has_peer && command.peer >= peers_.size()) return end(ticket, status::not_implemented);
  if (const std::uint32_t problem = problem_of(command); problem != status::done) return end(ticket, problem);
  if (is_collective(command.call)) return begin_collective(command, ticket);
  switch (command.call) {
    case Call::copy:
      return copy(command, ticket);
    case Call::combine:
      do_locally(command, {command.get_address(0), command.get_address(1), command.get_address(2), bytes_of(command)});
      return end(ticket, status::done);
    case Call::send:
      return start_send(issued);
    case Call::recv: {
      Receive receive{command.tag, command.get_address(2), bytes_of(command), &ticket};
      receive.to_stream = (command.streams & result_is_stream) != 0;
      receive.stream = command.function;
      return start_receive(command.peer, receive);
    }
    default:
      return end(ticket, status::not_implemented);
  }
}

// The others are ACCL's hardware's: here options set them before the engine is made.
std::uint32_t Engine::configure(const Command& command) {
  if (command.function > static_cast<std::uint32_t>(Setting::largest_message)) return status::not_implemented;
  if (static_cast<Setting>(command.function) != Setting::eager_limit) return status::done;
  if (settings_.eager_limit == all_eager) return status::not_implemented;  // no rendezvous
  if (command.elements < settings_.buffer_bytes) return status::invalid_eager_limit;
  settings_.eager_limit = command.elements;
  return status::done;
}

void Engine::start_send(const Issued& issued) {
  const Command& command = issued.command;
  Ticket& ticket = *issued.ticket;
  Send send{Kind::eager, command.tag, command.function, command.get_address(0), bytes_of(command), &ticket};
  if ((command.streams & operand_is_stream) != 0 && send.length > 0) {
    if (issued.words == nullptr || issued.words->size() < send.length) return end(ticket, status::not_implemented);
    send.words = issued.words;
    send.from = send.words->data();
  }
  if ((command.streams & result_is_stream) == 0) return send_message(command.peer, send);
  ++counts_.messages;
  ++counts_.eager;
  if (send.length == 0) return end(ticket, status::done);
  send.kind = Kind::stream;
  peers_[command.peer].sends.push_back(send);
}

// Eager or by rendezvous.
void Engine::send_message(std::size_t to, Send send) {
  Peer& peer = peers_[to];
  ++counts_.messages;
  if (send.length <= settings_.eager_limit || send.words != nullptr) {
    ++counts_.eager;
    peer.sends.push_back(send);
    return;
  }
  ++counts_.rendezvous;
  send.kind = Kind::write;
  const auto asked = std::find_if(peer.addresses.begin(), peer.addresses.end(),
                                  [&](const Address& one) { return one.tag == send.tag; });
  if (asked == peer.addresses.end()) {
    peer.without_address.push_back(send);
    return;
  }
  send.address = asked->address;
  peer.addresses.erase(asked);
  peer.writes.push_back(send);
}

void Engine::start_receive(std::size_t from, Receive receive) {
  Peer& peer = peers_[from];
  if (receive.length > settings_.eager_limit && !receive.to_stream) {
    receive.address = ++addresses_;
    Header address;
    address.kind = Kind::address;
    address.tag = receive.tag;
    address.length = receive.length;
    address.address = receive.address;
    peer.rendezvous.push_back(receive);
    peer.controls.push_back(address);
    return;
  }
  auto& here = peer.segments_here;
  for (auto segment = here.begin(); segment != here.end();) {
    if (!matches(receive, *segment)) {
      ++segment;
      continue;
    }
    const Segment taken = *segment;
    segment = here.erase(segment);
    if (give(peer, receive, taken)) return;
    if (failed_) return end(*receive.ticket, status::packets_out_of_sequence);
  }
  peer.receives.push_back(receive);
}

void Engine::copy(const Command& command, Ticket& ticket) {
  const auto bytes = static_cast<std::size_t>(bytes_of(command));
  if (command.streams != result_is_stream) {
    do_locally(command, {command.get_address(0), nullptr, command.get_address(2), bytes});
    return end(ticket, status::done);
  }
  ++counts_.copies;
  const bool taken = put_into(stream_of(peers_[rank_], command.function), command.get_address(0), bytes);
  end(ticket, taken ? status::done : status::not_implemented);  // without a kernel that waits
}

// --- collectives --------------------------------------------------------------------------------

// One after the other, in the order of the commands, which is the same on all ranks.
void Engine::begin_collective(const Command& command, Ticket& ticket) {
  auto made = std::make_unique<Collective>();
  made->command = command;
  made->ticket = &ticket;
  made->tag = collective_tag | collective_number_++;
  made->schedule = schedule_of(command, static_cast<int>(rank_), static_cast<int>(peers_.size()),
                               bytes_of(command) <= settings_.eager_limit);
  collectives_.push_back(std::move(made));
}

bool Engine::advance_collectives() {
  bool moved = false;
  while (!collectives_.empty() && !failed_) {
    Collective& first = *collectives_.front();
    if (first.messages.open.load(std::memory_order_relaxed) > 0) break;
    moved = true;
    if (first.under_way)
      for (const Local& one : first.schedule.stages[first.stage++].then) do_locally(first.command, one);
    first.under_way = first.stage < first.schedule.stages.size();
    if (first.under_way) {
      begin_stage(first);
      continue;
    }
    end(*first.ticket, first.messages.status.load(std::memory_order_relaxed));
    collectives_.pop_front();
  }
  return moved;
}

void Engine::begin_stage(Collective& collective) {
  const Stage& stage = collective.schedule.stages[collective.stage];
  Ticket& ticket = collective.messages;
  ticket.open.fetch_add(stage.receives.size() + stage.sends.size(), std::memory_order_relaxed);
  for (const Part& part : stage.receives)
    start_receive(static_cast<std::size_t>(part.peer), {collective.tag, part.at, part.bytes, &ticket});
  for (const Part& part : stage.sends)
    send_message(static_cast<std::size_t>(part.peer), {Kind::eager, collective.tag, 0, part.at, part.bytes, &ticket});
}

void Engine::do_locally(const Command& command, const Local& one) {
  if (one.right != nullptr) {
    ++counts_.combinations;
    return combine_parts(command, one);
  }
  ++counts_.copies;
  if (one.bytes > 0) std::memmove(one.to, one.left, static_cast<std::size_t>(one.bytes));
}

}  // namespace plumb::accl
