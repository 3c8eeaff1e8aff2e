#include "benchmarks/shmem/graph500/discoveries.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "world/collect.hpp"

namespace plumb::graph500 {

namespace {

constexpr std::uint64_t packet_places = 2;      // of a neighbour's packets
constexpr std::size_t packet_of_gpu = 8 << 10;  // bytes of a group's: what `peer` gives a group at least
constexpr std::size_t packet_of_cpu = 1 << 10;

// Groups for each neighbour, all of them resident on every device.
std::size_t groups_of(const DeviceInfo& info, std::uint32_t kernels) {
  if (info.type != "gpu") return 1;
  return std::max(1u, info.compute_units / std::max(2u, kernels));
}

std::size_t bytes_of_packets(const DeviceInfo& info, std::uint32_t kernels) {
  return groups_of(info, kernels) * (info.type == "gpu" ? packet_of_gpu : packet_of_cpu);
}

std::unique_ptr<Buffer> zeroed(Session& session, std::size_t bytes, bool is_shared) {
  Placement placement = session.memory;
  placement.shared = placement.shared && is_shared;
  auto buffer = session.device.allocate(bytes, placement);
  const std::vector<std::byte> zeros(bytes);
  session.device.make_queue()->write(zeros.data(), whole(*buffer));
  return buffer;
}

}  // namespace

std::unique_ptr<Discoveries> Discoveries::open(Session& session, Team& team, const DeviceGraph& graph,
                                               std::uint32_t own_words) {
  const TransportInfo& info = session.transport->info();
  if (info.name != "peer" || info.landing != "streaming")
    throw Unsupported("kernels send what they find over --transport peer, with --approach device-streaming");
  std::unique_ptr<Discoveries> all(new Discoveries(session, team, graph, own_words));
  for (const std::string& problem : all_texts(session.world, all->problem_with(session.device.info())))
    if (!problem.empty()) throw Unsupported(problem);
  return all;
}

Discoveries::Discoveries(Session& session, Team& team, const DeviceGraph& graph, std::uint32_t own_words)
    : own_words_(own_words),
      kernels_(static_cast<std::uint32_t>(team.size() - 1)),
      most_packets_(team.all_reduce(std::uint64_t{own_words}, Fold::maximum) + 1),
      packets_bytes_(team.all_reduce<std::uint64_t>(bytes_of_packets(session.device.info(), kernels_), Fold::minimum)),
      pitch_(aligned(packets_bytes_)),
      outgoing_(session.device.allocate(kernels_ * pitch_, session.memory)),
      incoming_(zeroed(session, kernels_ * packet_places * pitch_, true)),
      ended_(zeroed(session, message_alignment, false)),
      all_ended_(zeroed(session, message_alignment, false)) {
  Exchange exchange;
  exchange.steps.emplace_back();
  const int ranks = team.size(), me = team.rank();
  for (int distance = 1; distance < ranks; ++distance) {
    // A lane is a pair of ranks, which exchange packets.
    const int other = (me + distance) % ranks, lane = std::min(me, other) * ranks + std::max(me, other);
    const std::size_t at = static_cast<std::size_t>(distance - 1) * pitch_;
    exchange.steps[0].sends.push_back({other, lane, {{outgoing_.get(), at, packets_bytes_}}});
    exchange.steps[0].receives.push_back(
        {other, lane, {{incoming_.get(), packet_places * at, packets_bytes_}, packet_places, pitch_}});
    numbers_[lane] = static_cast<std::uint32_t>(distance - 1);
  }
  KernelSource source = graph.source();
  source.options += fmt::format(" -DPLACES={}", packet_places);
  port_ = session.transport->open_port(exchange, source, "discover");
}

std::string Discoveries::problem_with(const DeviceInfo& info) const {
  if (port_->groups() <= std::max(1u, info.compute_units)) return "";
  return fmt::format(
      "{} has {} compute units, too few for {} groups that send what they find: use --discoveries bitmaps", info.name,
      info.compute_units, port_->groups());
}

void Discoveries::run(Queue& earlier, const std::vector<KernelArgument>& of_level) {
  earlier.finish();
  ++levels_;
  port_->start(0, most_packets_, [&](int lane) {
    const std::uint32_t number = numbers_.at(lane);
    std::vector<KernelArgument> all = of_level;
    const std::vector<KernelArgument> own{own_words_,
                                          number,
                                          kernels_,
                                          ended_.get(),
                                          all_ended_.get(),
                                          levels_,
                                          outgoing_.get(),
                                          std::uint64_t{number * pitch_},
                                          incoming_.get(),
                                          std::uint64_t{packet_places * number * pitch_},
                                          std::uint64_t{pitch_}};
    all.insert(all.end(), own.begin(), own.end());
    return all;
  });
  port_->finish();
}

}  // namespace plumb::graph500
