// Ports with two kernels a lane, one for each direction, both single work items (transports channel and accl-*).
#pragma once

#include <string>
#include <vector>

#include "transport/port.hpp"

namespace plumb {

class PairPort : public Port {
 protected:
  using Port::Port;
  // The kernel of one direction of a lane, `after` the suffix of its direction. `more`: the arguments of PORT_MORE.
  void add(Device& device, Program& program, const Lane& lane, const std::string& kernel, bool sends,
           std::vector<KernelArgument> more = {}, const std::string& after = "");

 private:
  std::vector<KernelArgument> arguments(std::size_t end, std::uint64_t first, std::uint64_t) override;

  std::vector<std::vector<KernelArgument>> more_, slots_;  // parallel to ends_
};

constexpr const char *send_suffix = "_send", *receive_suffix = "_receive";  // of the kernels' names

// The text of a lane's two kernels `kernel` of `source`, in HLS C++ (with the streams between the two) or OpenCL C.
// `text` is the transport's, after definitions of its own. Throws Unsupported if the source has no such form.
KernelSource pair_source(const Lane& lane, bool in_hls, const std::string& text, const KernelSource& source,
                         const std::string& kernel);

// What a transport's text of a lane defines: its macros, and its functions and channels.
struct LaneNames {
  std::vector<std::string> macros, names;
};

// Texts of lanes (pair_source()) in one program, after `beside`: names of each lane, and of its kernels, end in its
// place. Their streams follow those of `source`.
KernelSource joined_source(bool in_hls, const std::string& beside, const KernelSource& source,
                           const std::vector<KernelSource>& lanes, const std::string& kernel, const LaneNames& own);

}  // namespace plumb
