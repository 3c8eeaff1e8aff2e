#include "transport/pair/pair.hpp"

#include <fmt/format.h>

#include "core/embedded.hpp"

namespace plumb {

void PairPort::add(Device& device, Program& program, const Lane& lane, const std::string& kernel, bool sends,
                   std::vector<KernelArgument> more, const std::string& after) {
  const Slots& slots = (sends ? lane.send : lane.receive)->slots;
  End end;
  end.lane = lane;
  end.lane.send = end.lane.receive = nullptr;  // the exchange may be destroyed
  end.sends = sends;
  end.receives = !sends;
  end.bytes = slots.bytes();
  end.queue = device.make_queue();
  end.kernel = program.kernel(kernel + (sends ? send_suffix : receive_suffix) + after);
  end.range = {1, 1};
  ends_.push_back(std::move(end));
  more_.push_back(std::move(more));
  slots_.push_back({slots.view.buffer, static_cast<std::uint64_t>(slots.view.offset), slots.areas,
                    static_cast<std::uint64_t>(slots.pitch), static_cast<std::uint64_t>(slots.stride), slots.first});
}

std::vector<KernelArgument> PairPort::arguments(std::size_t number, std::uint64_t first, std::uint64_t) {
  std::vector<KernelArgument> all{ends_[number].bytes, static_cast<std::uint32_t>(ends_[number].lane.order)};
  all.insert(all.end(), more_[number].begin(), more_[number].end());
  all.insert(all.end(), slots_[number].begin(), slots_[number].end());
  all.back() = std::get<std::uint64_t>(all.back()) + first;
  return all;
}

KernelSource pair_source(const Lane& lane, bool in_hls, const std::string& text, const KernelSource& source,
                         const std::string& kernel) {
  const std::string& own = in_hls ? source.hls : source.opencl;
  if (own.empty()) throw Unsupported(fmt::format("{} has no form in {}", source.name, in_hls ? "HLS C++" : "OpenCL C"));
  const std::string port = embedded_text("engine/transport/pair/port.cl") + own;
  std::string all;
  if (lane.send != nullptr) all += "#define SENDS\n";
  if (lane.receive != nullptr) all += "#define RECEIVES\n";
  all += embedded_text(in_hls ? "engine/transport/pair/pair_hls.cpp" : "engine/transport/pair/pair.cl") + text;
  if (lane.send != nullptr)
    all += "#define PORT_STREAMS SENDING_STREAMS\n#define PORT_SENDING\n" + port +
           "#undef PORT_SENDING\n#undef PORT_STREAMS\n";
  if (lane.receive != nullptr) all += "#define PORT_STREAMS RECEIVING_STREAMS\n#define PORT_RECEIVING\n" + port;
  if (!in_hls) return {source.name, all, source.options};
  KernelSource made{.name = source.name, .opencl = "", .options = source.options, .hls = all};
  const std::string sends = kernel + send_suffix + ".", receives = kernel + receive_suffix + ".";
  if (lane.send != nullptr && lane.receive != nullptr)
    made.streams = {{sends + "sent", receives + "sent", 1}, {receives + "received", sends + "received", 1}};
  return made;
}

namespace {

// Before the text of a lane: what the lane before defined is gone, and names end in the number.
std::string lane_head(bool in_hls, std::size_t lane, const std::string& kernel, const LaneNames& own) {
  std::string text = fmt::format("\n#undef LANE\n#define LANE {}\n", lane);
  std::vector<std::string> macros{"SENDS", "RECEIVES", "PAIR", "TELL", "AWAIT", "TOKENS", "PORT_STREAMS"};
  macros.insert(macros.end(), own.macros.begin(), own.macros.end());
  for (const std::string& gone : macros) text += fmt::format("#undef {}\n", gone);
  std::vector<std::string> names{kernel + send_suffix, kernel + receive_suffix};
  if (!in_hls) names.insert(names.end(), {"sent", "received"});
  names.insert(names.end(), own.names.begin(), own.names.end());
  for (const std::string& name : names) text += fmt::format("#undef {0}\n#define {0} {0}_{1}\n", name, lane);
  return text;
}

// A stream's end at a lane's kernel.
std::string end_of_lane(const std::string& end, std::size_t lane, const std::string& kernel) {
  for (const std::string& name : {kernel + send_suffix, kernel + receive_suffix})
    if (end.starts_with(name + ".")) return fmt::format("{}_{}{}", name, lane, end.substr(name.size()));
  return end;
}

}  // namespace

KernelSource joined_source(bool in_hls, const std::string& beside, const KernelSource& source,
                           const std::vector<KernelSource>& lanes, const std::string& kernel, const LaneNames& own) {
  KernelSource joined = source;
  std::string text = beside;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    text += lane_head(in_hls, i, kernel, own) + (in_hls ? lanes[i].hls : lanes[i].opencl);
    for (const StreamLink& link : lanes[i].streams) {
      joined.streams.push_back(link);
      for (std::string* end : {&joined.streams.back().from, &joined.streams.back().to})
        *end = end_of_lane(*end, i, kernel);
    }
  }
  (in_hls ? joined.hls : joined.opencl) = text;
  return joined;
}

}  // namespace plumb
