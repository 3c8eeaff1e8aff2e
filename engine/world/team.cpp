#include "world/team.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <numeric>

#include "core/error.hpp"
#include "world/collect.hpp"

namespace plumb {

namespace {

// Reason why these ranks cannot form a team; "" if they can.
std::string problem_of(const std::vector<int>& ranks, int size) {
  if (ranks.empty()) return "a team must have a rank: none was named";
  for (const int rank : ranks) {
    if (rank < 0 || rank >= size)
      return fmt::format("rank {} of the team {} is not in the world, whose ranks are 0 to {}", rank,
                         fmt::join(ranks, ", "), size - 1);
    if (std::count(ranks.begin(), ranks.end(), rank) > 1)
      return fmt::format("rank {} is named twice in the team {}", rank, fmt::join(ranks, ", "));
  }
  return "";
}

// Throws the same Error on all ranks unless each rank names a valid team and members name the same one.
void agree(World& world, const std::vector<int>& ranks) {
  const AgreedText wrong = first_text(world, problem_of(ranks, world.size()));
  if (wrong.rank >= 0) throw Error(wrong.text);
  const std::string mine = fmt::format("{}", fmt::join(ranks, ", "));
  const std::vector<std::string> all = all_texts(world, mine);
  std::string problem;
  for (const int rank : ranks)
    if (const std::string& other = all[static_cast<std::size_t>(rank)]; problem.empty() && other != mine)
      problem = fmt::format("rank {} names the team {}, and rank {}, which is in it, the team {}", world.rank(), mine,
                            rank, other);
  const AgreedText differing = first_text(world, problem);
  if (differing.rank >= 0) throw Error(differing.text);
}

// The team of a world of one.
class SerialTeam final : public Team {
 public:
  SerialTeam(World& world, std::vector<int> ranks) : Team(std::move(ranks), world.rank()) {}

 private:
  void do_barrier() override {}
  void do_broadcast(std::span<std::byte>, int) override {}
  std::vector<std::vector<std::byte>> do_gather(std::span<const std::byte> bytes, int) override {
    return {{bytes.begin(), bytes.end()}};
  }
  void do_all_reduce(std::span<std::byte>, std::size_t, Combine) override {}
  void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all, const std::vector<std::size_t>&,
                     std::size_t) override {
    std::copy(mine.begin(), mine.end(), all.begin());
  }
  void do_all_to_all(std::span<const std::byte> sent, const std::vector<std::size_t>&, std::span<std::byte> received,
                     const std::vector<std::size_t>&) override {
    if (!sent.empty()) std::memcpy(received.data(), sent.data(), sent.size());
  }
};

const RegisteredTeams registered_serial_teams("serial", [](World& world, std::vector<int> ranks) {
  return std::make_unique<SerialTeam>(world, std::move(ranks));
});

}  // namespace

std::unique_ptr<Team> World::team(const std::vector<int>& ranks) {
  const TeamFactory* factory = Registry<TeamFactory>::instance().find(info().kind);
  if (factory == nullptr) throw Unsupported("world " + info().kind + " does not support teams");
  agree(*this, ranks);
  return (*factory)(*this, ranks);
}

std::vector<int> square_grid(int ranks) {
  int side = 1;
  while ((side + 1) * (side + 1) <= ranks) ++side;
  std::vector<int> grid(static_cast<std::size_t>(side * side));
  std::iota(grid.begin(), grid.end(), 0);
  return grid;
}

Team::Team(std::vector<int> ranks, int world_rank) : ranks_(std::move(ranks)) {
  const auto found = std::find(ranks_.begin(), ranks_.end(), world_rank);
  if (found != ranks_.end()) rank_ = static_cast<int>(found - ranks_.begin());
}

Json Team::facts(int world_size) const {
  std::vector<int> idle;
  for (int rank = 0; rank < world_size; ++rank)
    if (std::find(ranks_.begin(), ranks_.end(), rank) == ranks_.end()) idle.push_back(rank);
  return {{"ranks", ranks_}, {"idle", idle}};
}

void Team::need_member() const {
  if (!is_member())
    throw Error(fmt::format("this rank is not in the team {}, and cannot take part in it", fmt::join(ranks_, ", ")));
}

void Team::need_root(int root) const {
  need_member();
  if (root < 0 || root >= size()) throw Error(fmt::format("root {} is not in a team of {}", root, size()));
}

void Team::barrier() {
  need_member();
  do_barrier();
}

void Team::broadcast(std::span<std::byte> bytes, int root) {
  need_root(root);
  if (!bytes.empty()) do_broadcast(bytes, root);
}

std::vector<std::vector<std::byte>> Team::gather(std::span<const std::byte> bytes, int root) {
  need_root(root);
  return do_gather(bytes, root);
}

void Team::reduce(std::span<std::byte> values, std::size_t element_bytes, Combine combine) {
  need_member();
  if (!values.empty()) do_all_reduce(values, element_bytes, combine);
}

void Team::collect(std::span<const std::byte> mine, std::span<std::byte> all, std::span<const std::size_t> counts,
                   std::size_t element_bytes) {
  need_member();
  const std::vector<std::size_t> elements(counts.begin(), counts.end());
  const std::size_t together = std::accumulate(elements.begin(), elements.end(), std::size_t{0}) * element_bytes;
  const auto here = static_cast<std::size_t>(rank_);
  if (static_cast<int>(elements.size()) != size() || together != all.size() ||
      elements[here] * element_bytes != mine.size())
    throw Error(
        fmt::format("all-gather: {} counts of {} B together were given for {} B, and {} B are this rank's, "
                    "in a team of {}",
                    elements.size(), together, all.size(), mine.size(), size()));
  if (!all.empty()) do_all_gather(mine, all, elements, element_bytes);
}

void Team::exchange(std::span<const std::byte> sent, std::span<const std::size_t> send_counts,
                    std::span<std::byte> received, std::span<const std::size_t> receive_counts,
                    std::size_t element_bytes) {
  need_member();
  const auto lengths = [&](std::span<const std::size_t> counts, std::size_t bytes, const char* what) {
    std::vector<std::size_t> all(counts.begin(), counts.end());
    for (std::size_t& length : all) length *= element_bytes;
    const std::size_t together = std::accumulate(all.begin(), all.end(), std::size_t{0});
    if (static_cast<int>(all.size()) != size() || together != bytes)
      throw Error(fmt::format("all-to-all: {} counts of {} B together were given for {} B to be {}, in a team of {}",
                              all.size(), together, bytes, what, size()));
    return all;
  };
  const std::vector<std::size_t> out = lengths(send_counts, sent.size(), "sent");
  const std::vector<std::size_t> in = lengths(receive_counts, received.size(), "received");
  const auto here = static_cast<std::size_t>(rank_);
  if (out[here] != in[here])
    throw Error(fmt::format("all-to-all: {} B are sent to this rank itself, and {} B received", out[here], in[here]));
  do_all_to_all(sent, out, received, in);
}

}  // namespace plumb
