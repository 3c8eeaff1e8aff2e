// Forms `signal` and `barrier`: memory that other ranks reach, over OpenSHMEM or MPI windows.
#include "world/one_sided.hpp"

#include <algorithm>
#include <cstdlib>

#include "benchmarks/shmem/npb/messages.hpp"
#include "benchmarks/shmem/npb/waiting.hpp"

namespace plumb::npb {

namespace {

constexpr std::size_t cache_line = 64;

std::size_t lines(std::size_t bytes) {
  return (bytes + cache_line - 1) / cache_line * cache_line;
}

// A rank's memory: a cache line with the word of each of its links, then the slots of those links that land there
// (`signal`: incoming ones, `barrier`: outgoing ones).
struct Layout {
  struct Place {
    std::size_t word = 0, offset = 0, pitch = 0;
    std::uint64_t slots = 0;
    std::size_t slot(std::uint64_t number) const { return offset + number % slots * pitch; }
  };
  std::vector<Place> out, in;
  std::size_t bytes = 0;

  Layout(Form form, std::span<const DeclaredLink> links) : bytes(links.size() * cache_line) {
    for (const DeclaredLink& link : links) {
      Place place;
      place.word = (out.size() + in.size()) * cache_line / 8;
      place.pitch = lines(link.bytes);
      // Between two barriers one half is read while the other is written.
      place.slots = static_cast<std::uint64_t>(link.depth) * (form == Form::barrier ? 2 : 1);
      if ((link.outgoing != 0) == (form == Form::barrier)) {
        place.offset = bytes;
        bytes += place.slots * place.pitch;
      }
      (link.outgoing != 0 ? out : in).push_back(place);
    }
  }
};

std::span<const DeclaredLink> links_of(int rank, std::span<const DeclaredLink> all) {
  const auto found = std::ranges::equal_range(all, rank, {}, &DeclaredLink::rank);
  return {found.begin(), found.end()};
}

// Memory of this rank alone, with the slots of some links.
class Slots {
 public:
  explicit Slots(const std::vector<Link>& links) {
    std::size_t bytes = 0;
    for (const Link& link : links) {
      places_.push_back({0, bytes, lines(link.bytes), static_cast<std::uint64_t>(link.depth)});
      bytes += lines(link.bytes) * link.depth;
    }
    memory_.resize(bytes / sizeof(double));
  }
  std::byte* at(std::size_t link, std::uint64_t number) {
    return reinterpret_cast<std::byte*>(memory_.data()) + places_[link].slot(number);
  }

 private:
  std::vector<Layout::Place> places_;
  std::vector<double> memory_;
};

class OneSidedMessages : public Messages {
 protected:
  OneSidedMessages(Form form, World& world, std::unique_ptr<OneSided> memory, const std::vector<Link>& outgoing,
                   const std::vector<Link>& incoming)
      : Messages(outgoing, incoming),
        all_(all_links(world, outgoing, incoming)),
        mine_(form, links_of(world.rank(), all_)),
        memory_(std::move(memory)) {
    std::size_t most = cache_line;
    for (int rank = 0; rank < world.size(); ++rank) most = std::max(most, Layout(form, links_of(rank, all_)).bytes);
    if (!memory_) memory_ = make_one_sided(world, most, 1);
    const auto here = links_of(world.rank(), all_);
    for (const DeclaredLink& link : here) {
      const auto there = links_of(link.peer, all_);
      const Layout layout(form, there);
      const auto mate = std::ranges::find_if(there, [&](const DeclaredLink& other) {
        return other.peer == link.rank && other.tag == link.tag && other.outgoing != link.outgoing;
      });
      const auto index = static_cast<std::size_t>(mate->index);
      (link.outgoing != 0 ? to_ : from_).push_back(link.outgoing != 0 ? layout.in[index] : layout.out[index]);
    }
  }

  using Place = Layout::Place;
  OneSided& memory() { return *memory_; }
  const Place& at_receiver(std::size_t i) const { return to_[i]; }
  const Place& at_sender(std::size_t j) const { return from_[j]; }
  const Layout& mine() const { return mine_; }

 private:
  std::vector<DeclaredLink> all_;
  Layout mine_;
  std::vector<Place> to_, from_;  // the other end of each outgoing, and of each incoming link
  std::unique_ptr<OneSided> memory_;
};

// The words: of an incoming link the number of messages that arrived, of an outgoing one the receiver's credit, the
// number of messages that it has expected.
class Signal final : public OneSidedMessages {
 public:
  Signal(World& world, std::unique_ptr<OneSided> memory, const std::vector<Link>& outgoing,
         const std::vector<Link>& incoming)
      : OneSidedMessages(Form::signal, world, std::move(memory), outgoing, incoming), packed_(outgoing) {}

 private:
  // With credit for message n, message n - depth was taken, so its put is complete and both its slots are free.
  std::span<std::byte> do_outgoing(std::size_t i, std::uint64_t number) override {
    wait_until("credit of a receiver in a benchmark of the NPB",
               [&] { return memory().reached(mine().out[i].word, number + 1); });
    return {packed_.at(i, number), out(i).bytes};
  }
  void do_post(std::size_t i, std::uint64_t number, std::size_t bytes) override {
    const Place& place = at_receiver(i);
    if (bytes > 0) memory().put_nb(0, place.slot(number), packed_.at(i, number), bytes, out(i).peer);
    memory().notify(0, place.word, number + 1, out(i).peer);
  }
  void do_expect(std::size_t j, std::uint64_t number, std::size_t) override {
    memory().notify(0, at_sender(j).word, number + 1, in(j).peer);
  }
  bool do_arrived(std::size_t j, std::uint64_t number) override {
    return memory().reached(mine().in[j].word, number + 1);
  }
  std::span<const std::byte> do_take(std::size_t j, std::uint64_t number, std::size_t bytes) override {
    wait_until("a message of a benchmark of the NPB", [&] { return do_arrived(j, number); });
    return {memory().local() + mine().in[j].slot(number), bytes};
  }
  void do_complete() override { memory().quiet(0); }

  Slots packed_;
};

// Messages stay where they were written until the receiver gets them.
class Barrier final : public OneSidedMessages {
 public:
  Barrier(World& world, std::unique_ptr<OneSided> memory, const std::vector<Link>& outgoing,
          const std::vector<Link>& incoming)
      : OneSidedMessages(Form::barrier, world, std::move(memory), outgoing, incoming), got_(incoming) {}

 private:
  std::span<std::byte> do_outgoing(std::size_t i, std::uint64_t number) override {
    return {memory().local() + mine().out[i].slot(number), out(i).bytes};
  }
  void do_post(std::size_t, std::uint64_t, std::size_t) override {}
  void do_expect(std::size_t, std::uint64_t, std::size_t) override {}
  bool do_arrived(std::size_t, std::uint64_t) override { return true; }  // after meet()
  std::span<const std::byte> do_take(std::size_t j, std::uint64_t number, std::size_t bytes) override {
    std::byte* const to = got_.at(j, number);
    if (bytes > 0) memory().get(0, to, at_sender(j).slot(number), bytes, in(j).peer);
    return {to, bytes};
  }
  void do_meet() override { memory().synchronise(); }
  void do_complete() override { memory().synchronise(); }  // no slot is written again before it was read

  Slots got_;
};

}  // namespace

std::unique_ptr<Messages> make_signal(World& world, std::unique_ptr<OneSided> memory, const std::vector<Link>& outgoing,
                                      const std::vector<Link>& incoming) {
  return std::make_unique<Signal>(world, std::move(memory), outgoing, incoming);
}

std::unique_ptr<Messages> make_barrier(World& world, std::unique_ptr<OneSided> memory,
                                       const std::vector<Link>& outgoing, const std::vector<Link>& incoming) {
  return std::make_unique<Barrier>(world, std::move(memory), outgoing, incoming);
}

std::size_t one_sided_bytes(Form form, const std::vector<Link>& outgoing, const std::vector<Link>& incoming) {
  if (form == Form::two_sided) return 0;
  std::vector<DeclaredLink> links;
  for (const Link& link : outgoing) links.push_back({0, link.peer, link.tag, link.depth, 0, 1, link.bytes});
  for (const Link& link : incoming) links.push_back({0, link.peer, link.tag, link.depth, 0, 0, link.bytes});
  return std::max(cache_line, Layout(form, links).bytes);
}

}  // namespace plumb::npb
