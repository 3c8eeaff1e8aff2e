// Form `two-sided`: each slot of a link is an exchange of one message, compiled by the session's transport.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "benchmarks/shmem/npb/messages.hpp"
#include "benchmarks/shmem/npb/waiting.hpp"
#include "transport/transport.hpp"

namespace plumb::npb {

namespace {

// The round of compilation of each link: in one round a rank is an end of one link at most, as ranks may wait for each
// other while they compile.
std::vector<std::size_t> rounds_of(const std::vector<DeclaredLink>& links) {
  std::vector<std::size_t> rounds(links.size());
  std::set<std::pair<std::size_t, int>> busy;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i].outgoing == 0) continue;
    std::size_t round = 0;
    while (busy.contains({round, links[i].from()}) || busy.contains({round, links[i].to()})) ++round;
    busy.insert({round, links[i].from()});
    busy.insert({round, links[i].to()});
    for (std::size_t j = 0; j < links.size(); ++j)
      if (links[j].from() == links[i].from() && links[j].to() == links[i].to() && links[j].tag == links[i].tag)
        rounds[j] = round;
  }
  return rounds;
}

class TwoSided final : public Messages {
 public:
  TwoSided(Session& session, const std::vector<Link>& outgoing, const std::vector<Link>& incoming)
      : Messages(outgoing, incoming) {
    if (session.transport == nullptr) throw Error("form two-sided has no transport");
    for (const Link& link : outgoing) out_.push_back(room(session, link));
    for (const Link& link : incoming) in_.push_back(room(session, link));
    compile(session, all_links(session.world, outgoing, incoming));
  }

 private:
  struct Slot {
    CompiledExchange* exchange = nullptr;
    bool active = false;
    std::size_t bytes = 0;  // of its latest message
  };
  struct Room {
    std::unique_ptr<Buffer> buffer;
    std::size_t pitch = 0;
    std::vector<Slot> slots;
    Slot& at(std::uint64_t number) { return slots[number % slots.size()]; }
    std::byte* place(std::uint64_t number) const { return buffer->host_pointer() + number % slots.size() * pitch; }
  };

  static Room room(Session& session, const Link& link) {
    Room room;
    room.pitch = (link.bytes + 63) / 64 * 64;
    room.slots.resize(static_cast<std::size_t>(link.depth));
    room.buffer = session.device.allocate(room.pitch * room.slots.size(), session.memory);
    if (room.buffer->host_pointer() == nullptr)
      throw Unsupported(
          "form two-sided needs memory that the host can address: use --runtime native, or --memory host");
    return room;
  }

  void compile(Session& session, const std::vector<DeclaredLink>& links) {
    const std::vector<std::size_t> rounds = rounds_of(links);
    const std::size_t all = links.empty() ? 0 : *std::max_element(rounds.begin(), rounds.end()) + 1;
    int depth = 0;
    for (const DeclaredLink& link : links) depth = std::max(depth, link.depth);
    for (std::size_t round = 0; round < all; ++round)
      for (int slot = 0; slot < depth; ++slot) {
        Exchange exchange;
        Slot* whose = nullptr;
        for (std::size_t i = 0; i < links.size(); ++i) {
          const DeclaredLink& link = links[i];
          if (rounds[i] != round || link.rank != session.world.rank() || slot >= link.depth) continue;
          const auto index = static_cast<std::size_t>(link.index);
          Room& room = link.outgoing != 0 ? out_[index] : in_[index];
          Transfer transfer{link.peer, link.tag * 8 + slot, {}};
          transfer.slots.view = {room.buffer.get(), static_cast<std::size_t>(slot) * room.pitch, link.bytes};
          whose = &room.slots[slot];
          whose->bytes = link.bytes;
          Step step;
          (link.outgoing != 0 ? step.sends : step.receives).push_back(transfer);
          exchange.steps = {step};
        }
        exchanges_.push_back(session.transport->compile(exchange));
        if (whose != nullptr) whose->exchange = exchanges_.back().get();
      }
  }

  void start(Slot& slot, std::size_t bytes, bool sends) {
    if (slot.bytes != bytes) {
      slot.exchange->set_sizes({sends ? StepSizes{{bytes}, {}} : StepSizes{{}, {bytes}}});
      slot.bytes = bytes;
    }
    slot.exchange->start(0, 1);
    slot.active = true;
    active_.push_back(&slot);
  }

  // Returns whether the slot's message is complete; the others make progress too, as a peer may wait for them.
  bool test(Slot& slot) {
    std::erase_if(active_, [](Slot* one) {
      one->active = !one->exchange->test();
      return !one->active;
    });
    return !slot.active;
  }
  void wait(Slot& slot) {
    if (slot.active) wait_until("a message of a benchmark of the NPB", [&] { return test(slot); });
  }

  std::span<std::byte> do_outgoing(std::size_t i, std::uint64_t number) override {
    wait(out_[i].at(number));
    return {out_[i].place(number), out(i).bytes};
  }
  void do_post(std::size_t i, std::uint64_t number, std::size_t bytes) override {
    start(out_[i].at(number), bytes, true);
  }
  void do_expect(std::size_t j, std::uint64_t number, std::size_t bytes) override {
    start(in_[j].at(number), bytes, false);
  }
  bool do_arrived(std::size_t j, std::uint64_t number) override { return test(in_[j].at(number)); }
  std::span<const std::byte> do_take(std::size_t j, std::uint64_t number, std::size_t bytes) override {
    wait(in_[j].at(number));
    return {in_[j].place(number), bytes};
  }
  void do_settle() override {
    while (!active_.empty()) wait(*active_.front());
  }

  std::vector<Room> out_, in_;
  std::vector<std::unique_ptr<CompiledExchange>> exchanges_;  // destroyed before their buffers
  std::vector<Slot*> active_;
};

}  // namespace

std::unique_ptr<Messages> make_two_sided(Session& session, const std::vector<Link>& outgoing,
                                         const std::vector<Link>& incoming) {
  return std::make_unique<TwoSided>(session, outgoing, incoming);
}

}  // namespace plumb::npb
