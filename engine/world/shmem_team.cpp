// Teams over OpenSHMEM, by messages in a mailbox of their own: the active sets of 1.4 and the teams of 1.5 support
// regular strides only, not any list of ranks.
#include "core/error.hpp"
#include "world/shmem_mailbox.hpp"
#include "world/team.hpp"
#include "world/watchdog.hpp"

namespace plumb {

namespace {

class ShmemTeam final : public Team {
 public:
  ShmemTeam(World& world, std::vector<int> ranks)
      : Team(std::move(ranks), world.rank()), mailbox_(world.rank(), world.size()) {}

 private:
  int world_rank(int place) const { return ranks()[static_cast<std::size_t>(place % size())]; }

  // Dissemination barrier: the distance doubles in each round.
  void do_barrier() override {
    const Waiting waiting("a team at a barrier");
    for (int away = 1; away < size(); away *= 2) {
      std::byte sent{}, received{};
      mailbox_.exchange({&sent, 1}, world_rank(rank() + away), {&received, 1}, world_rank(rank() + size() - away));
    }
  }

  // Binomial tree from the root: `take` receives from the parent, `give` sends to a child.
  template <class Take, class Give>
  void down_the_tree(int root, Take take, Give give) {
    const int place = (rank() + size() - root) % size();
    int have = 1;
    for (; have <= place; have *= 2)
      if (place < 2 * have) take(world_rank(root + place - have));
    for (; have < size(); have *= 2)
      if (place + have < size()) give(world_rank(root + place + have));
  }

  void do_broadcast(std::span<std::byte> bytes, int root) override {
    const Waiting waiting("a team's broadcast");
    down_the_tree(
        root, [&](int from) { mailbox_.receive(bytes, from); }, [&](int to) { mailbox_.send(bytes, to); });
  }

  std::vector<std::vector<std::byte>> do_gather(std::span<const std::byte> bytes, int root) override {
    const Waiting waiting("a team at a gather");
    if (rank() != root) {
      const std::uint64_t length = bytes.size();
      mailbox_.send(std::as_bytes(std::span(&length, 1)), world_rank(root));
      mailbox_.send(bytes, world_rank(root));
      return {};
    }
    std::vector<std::vector<std::byte>> parts(static_cast<std::size_t>(size()));
    for (int place = 0; place < size(); ++place) {
      auto& part = parts[static_cast<std::size_t>(place)];
      if (place == root) {
        part.assign(bytes.begin(), bytes.end());
        continue;
      }
      std::uint64_t length = 0;
      mailbox_.receive(std::as_writable_bytes(std::span(&length, 1)), world_rank(place));
      part.resize(length);
      mailbox_.receive(part, world_rank(place));
    }
    return parts;
  }

  // Up a tree to the first member, always in the same order, and down again: the same bits on all members.
  void do_all_reduce(std::span<std::byte> values, std::size_t element_bytes, Combine combine) override {
    {
      const Waiting waiting("a team's reduction");
      // Aligned for any reducible type.
      std::vector<std::uint64_t> more((values.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
      const auto bytes = std::as_writable_bytes(std::span(more)).first(values.size());
      for (int away = 1; away < size(); away *= 2) {
        if (rank() % (2 * away) != 0) {
          mailbox_.send(values, world_rank(rank() - away));
          break;
        }
        if (rank() + away >= size()) continue;
        mailbox_.receive(bytes, world_rank(rank() + away));
        combine(values.data(), bytes.data(), values.size() / element_bytes);
      }
    }
    do_broadcast(values, 0);
  }

  // Ring: each member passes on its latest part.
  void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all, const std::vector<std::size_t>& counts,
                     std::size_t element_bytes) override {
    const Waiting waiting("a team's all-gather");
    std::vector<std::span<std::byte>> parts;
    for (const std::size_t count : counts) {
      parts.push_back(all.first(count * element_bytes));
      all = all.subspan(count * element_bytes);
    }
    std::copy(mine.begin(), mine.end(), parts[static_cast<std::size_t>(rank())].begin());
    const auto part = [&](int place) { return parts[static_cast<std::size_t>(place % size())]; };
    for (int step = 0; step + 1 < size(); ++step)
      mailbox_.exchange(part(rank() + size() - step), world_rank(rank() + 1), part(rank() + 2 * size() - step - 1),
                        world_rank(rank() + size() - 1));
  }

  void do_all_to_all(std::span<const std::byte> sent, const std::vector<std::size_t>& send_bytes,
                     std::span<std::byte> received, const std::vector<std::size_t>& receive_bytes) override {
    const Waiting waiting("a team's all-to-all");
    std::vector<std::span<const std::byte>> out;
    for (const std::size_t length : send_bytes) {
      out.push_back(sent.first(length));
      sent = sent.subspan(length);
    }
    std::vector<std::span<std::byte>> in;
    for (const std::size_t length : receive_bytes) {
      in.push_back(received.first(length));
      received = received.subspan(length);
    }
    const auto here = static_cast<std::size_t>(rank());
    std::copy(out[here].begin(), out[here].end(), in[here].begin());
    for (int away = 1; away < size(); ++away) {
      const auto to = static_cast<std::size_t>((rank() + away) % size());
      const auto from = static_cast<std::size_t>((rank() + size() - away) % size());
      mailbox_.exchange(out[to], ranks()[to], in[from], ranks()[from]);
    }
  }

  Mailbox mailbox_;
};

const RegisteredTeams registered_shmem_teams("shmem", [](World& world, std::vector<int> ranks) {
  return std::make_unique<ShmemTeam>(world, std::move(ranks));
});

}  // namespace

}  // namespace plumb
