// Links and programs of transport `channel`: pipes between ranks, unnamed once both ends are open.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>
#include <tuple>

#include "core/embedded.hpp"
#include "transport/channel/relay.hpp"
#include "transport/pair/pair.hpp"
#include "transport/trade.hpp"
#include "world/collect.hpp"
#include "world/hosts.hpp"

namespace plumb::channel {

namespace {

std::string pipe_in(const std::string& folder, std::size_t channel) {
  return fmt::format("{}/link{}", folder, channel);
}

constexpr int nobody = -1;

// All ranks' lanes, the same text on each: one line "RANK LANE SENDER RECEIVER" per lane.
std::string pattern_of(World& world, const std::vector<Lane>& lanes) {
  std::string own, pattern;
  for (const Lane& lane : lanes)
    own +=
        fmt::format("{} {} {} {}\n", world.rank(), lane.number, lane.receive != nullptr ? lane.receive->peer : nobody,
                    lane.send != nullptr ? lane.send->peer : nobody);
  for (const std::string& text : gather_texts(world, own)) pattern += text;
  return broadcast_text(world, pattern);
}

// Throws Error on all ranks if a link has only one end.
void check_pattern(const std::string& pattern) {
  using Link = std::tuple<int, int, int>;  // from, to, lane
  std::set<Link> sent, received;
  std::istringstream text(pattern);
  for (int rank = 0, lane = 0, sender = 0, receiver = 0; text >> rank >> lane >> sender >> receiver;) {
    if (receiver != nobody) sent.insert({rank, receiver, lane});
    if (sender != nobody) received.insert({sender, rank, lane});
  }
  for (const auto& [from, to, lane] : sent)
    if (!received.contains({from, to, lane}))
      throw Error(fmt::format(
          "a link is missing: rank {0} sends to rank {1} on lane {2}, but rank {1} receives nothing from there", from,
          to, lane));
  for (const auto& [from, to, lane] : received)
    if (!sent.contains({from, to, lane}))
      throw Error(fmt::format(
          "a link is missing: rank {1} receives from rank {0} on lane {2}, but rank {0} sends nothing there", from, to,
          lane));
}

void send_over(Pair& pair, const std::string& offer, bool same_host) {
  pair.outgoing.make();
  pair.outgoing.take_names_away();
  for (std::size_t i = 0; i < channels_of_link; ++i)
    pair.relays.push_back(
        std::make_unique<Relay>(pair.outgoing.file(i), connected(relay_user, offer, i, same_host), true));
}

// By frames: the receiver offers a port a channel, separated by commas.
std::string receive_frames(Pair& pair) {
  std::string offer;
  for (std::size_t i = 0; i < channels_of_link; ++i) {
    std::string name;
    pair.relays.push_back(std::make_unique<Relay>(pair.incoming.file(i), frame_receiver(name), false));
    offer += (i > 0 ? "," : "") + name;
  }
  return offer;
}

void send_frames(Pair& pair, const std::string& offer, bool same_host, std::size_t frame) {
  pair.outgoing.make();
  pair.outgoing.take_names_away();
  std::istringstream offers(offer);
  std::string name;
  for (std::size_t i = 0; i < channels_of_link && std::getline(offers, name, ','); ++i)
    pair.relays.push_back(
        std::make_unique<Relay>(pair.outgoing.file(i), frame_sender(name, same_host, frame), true, frame));
}

void receive_over(Pair& pair, const ListeningSocket& listener) {
  std::vector<Descriptor> connections = listener.accepted(channels_of_link);
  for (std::size_t i = 0; i < channels_of_link; ++i)
    pair.relays.push_back(std::make_unique<Relay>(pair.incoming.file(i), std::move(connections[i]), false));
}

// The kernels of a lane; their channels are the links' pipes.
KernelSource kernels(bool in_hls, const Lane& lane, const Pair& pair, const KernelSource& source,
                     const std::string& kernel) {
  const bool sends = lane.send != nullptr, receives = lane.receive != nullptr;
  if (in_hls) {
    KernelSource made =
        pair_source(lane, true, embedded_text("engine/transport/channel/channel_hls.cpp"), source, kernel);
    for (std::size_t i = 0; i < channels_of_link; ++i) {
      if (sends) made.streams.push_back({fmt::format("{}{}.out{}", kernel, send_suffix, i), pair.outgoing.name(i)});
      if (receives)
        made.streams.push_back({pair.incoming.name(i), fmt::format("{}{}.in{}", kernel, receive_suffix, i)});
    }
    return made;
  }
  std::string names;
  for (std::size_t i = 0; i < channels_of_link; ++i) {
    if (sends) names += fmt::format("#define OUT{} \"{}\"\n", i, pair.outgoing.name(i));
    if (receives) names += fmt::format("#define IN{} \"{}\"\n", i, pair.incoming.name(i));
  }
  return pair_source(lane, false, names + embedded_text("engine/transport/channel/channel.cl"), source, kernel);
}

LaneNames names_of_lane(bool in_hls) {
  LaneNames made{{"OUT0", "OUT1", "IN0", "IN1", "send_message", "receive_message"}, {"load", "store"}};
  const std::vector<const char*> others =
      in_hls ? std::vector{"send_words", "receive_words"}
             : std::vector{"send_message", "receive_message", "out0", "out1", "in0", "in1"};
  made.names.insert(made.names.end(), others.begin(), others.end());
  return made;
}

}  // namespace

LinkEnd::~LinkEnd() {
  take_names_away();
  for (const int file : files_)
    if (file >= 0) close(file);
}

const std::string& LinkEnd::make() {
  std::error_code error;
  std::string folder = std::filesystem::temp_directory_path(error).string();
  if (error) folder = "/tmp";
  folder += "/plumb-links-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr)
    throw Error(
        fmt::format("transport channel cannot make a folder for its links ({}): {}; TMPDIR names another folder",
                    folder, std::strerror(errno)));
  folder_ = folder;
  for (std::size_t i = 0; i < channels_of_link; ++i)
    if (mkfifo(pipe_in(folder, i).c_str(), 0600) != 0)
      throw Error(fmt::format("transport channel cannot make the pipe {}: {}; TMPDIR names another folder",
                              pipe_in(folder, i), std::strerror(errno)));
  open(folder_);
  return folder_;
}

void LinkEnd::open(const std::string& folder) {
  for (std::size_t i = 0; i < channels_of_link; ++i) {
    files_[i] = ::open(pipe_in(folder, i).c_str(), O_RDWR | O_CLOEXEC);
    if (files_[i] < 0)
      throw Error(
          fmt::format("transport channel cannot open the pipe {} of a link: {}; its ranks must run on one host "
                      "and see one {}",
                      pipe_in(folder, i), std::strerror(errno), folder));
  }
}

void LinkEnd::take_names_away() {
  if (folder_.empty()) return;
  for (std::size_t i = 0; i < channels_of_link; ++i) unlink(pipe_in(folder_, i).c_str());
  rmdir(folder_.c_str());
  folder_.clear();
}

std::string LinkEnd::name(std::size_t channel) const {
  return fmt::format("/proc/self/fd/{}", files_[channel]);
}

Circuit& Wiring::circuit(const std::vector<Lane>& lanes, const KernelSource& source, const std::string& kernel,
                         const std::string& beside) {
  const std::string& text = device_.info().runtime == "hls" ? source.hls : source.opencl;
  const std::string pattern = pattern_of(world_, lanes);
  const std::string key = pattern + source.options + "\n" + beside + text;
  const auto found = circuits_.find(key);
  if (found != circuits_.end()) return found->second;
  check_pattern(pattern);
  return circuits_.emplace(key, awaited(world_, [&] { return wire(lanes, source, kernel, beside); })).first->second;
}

Pair::Pair() = default;
Pair::~Pair() = default;

Wiring::Wiring(World& world, Device& device, bool relayed, std::uint16_t port, std::size_t frame)
    : world_(world), device_(device), relayed_(relayed), port_(port), frame_(frame) {
  const std::vector<std::string> hosts = hosts_of_ranks(world);
  for (const std::string& host : hosts) same_host_.push_back(host == hosts[static_cast<std::size_t>(world.rank())]);
}

// Ranks of one host have disjoint ranges of ports.
std::uint16_t Wiring::port_of(std::size_t listener) const {
  if (port_ == 0) return 0;
  const std::size_t port = port_ + static_cast<std::size_t>(world_.local_rank()) * most_links + listener;
  if (listener >= most_links || port > 65535)
    throw Error(fmt::format("rank {} needs port {} for its link {}: --relay-port leaves too few above it",
                            world_.rank(), port, listener));
  return static_cast<std::uint16_t>(port);
}

Circuit Wiring::wire(const std::vector<Lane>& lanes, const KernelSource& source, const std::string& kernel,
                     const std::string& beside) {
  Circuit circuit;
  Step step;
  std::vector<Pair*> sending, receiving;
  std::vector<std::string> offers;
  std::vector<std::unique_ptr<ListeningSocket>> listeners;
  for (const Lane& lane : lanes) {
    Pair& pair = *circuit.emplace_back(std::make_unique<Pair>());
    if (lane.receive != nullptr) {
      step.receives.push_back(*lane.receive);
      receiving.push_back(&pair);
      const bool by_tcp = !near(lane.receive->peer) && frame_ == 0;
      listeners.push_back(by_tcp ? std::make_unique<ListeningSocket>(relay_user, port_of(listeners.size())) : nullptr);
      const std::string& folder = pair.incoming.make();
      offers.push_back(frame_ > 0 ? receive_frames(pair) : by_tcp ? listeners.back()->offer() : folder);
    }
    if (lane.send != nullptr) {
      step.sends.push_back(*lane.send);
      sending.push_back(&pair);
    }
  }
  const std::vector<std::string> there = trade(world_, step.receives, offers, step.sends);
  for (std::size_t i = 0; i < sending.size(); ++i) {
    const int peer = step.sends[i].peer;
    if (frame_ > 0)
      send_frames(*sending[i], there[i], same_host_[static_cast<std::size_t>(peer)], frame_);
    else if (near(peer))
      sending[i]->outgoing.open(there[i]);
    else
      send_over(*sending[i], there[i], same_host_[static_cast<std::size_t>(peer)]);
  }
  trade(world_, step.sends, std::vector<std::string>(sending.size(), "open"), step.receives);
  for (std::size_t i = 0; i < receiving.size(); ++i) {
    receiving[i]->incoming.take_names_away();
    if (listeners[i]) receive_over(*receiving[i], *listeners[i]);
  }
  build(circuit, lanes, source, kernel, beside);
  return circuit;
}

void Wiring::build(Circuit& circuit, const std::vector<Lane>& lanes, const KernelSource& source,
                   const std::string& kernel, const std::string& beside) {
  const bool in_hls = device_.info().runtime == "hls";
  if (beside.empty()) {
    for (std::size_t i = 0; i < lanes.size(); ++i)
      circuit[i]->program = device_.build(kernels(in_hls, lanes[i], *circuit[i], source, kernel));
    return;
  }
  std::vector<KernelSource> texts;
  for (std::size_t i = 0; i < lanes.size(); ++i)
    texts.push_back(kernels(in_hls, lanes[i], *circuit[i], source, kernel));
  if (circuit.empty()) circuit.push_back(std::make_unique<Pair>());
  circuit.front()->program = device_.build(joined_source(in_hls, beside, source, texts, kernel, names_of_lane(in_hls)));
}

}  // namespace plumb::channel
