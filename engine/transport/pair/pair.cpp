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

}  // namespace plumb
