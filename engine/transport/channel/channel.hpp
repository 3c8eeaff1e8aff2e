// Transport `channel`: serial links between FPGAs by Intel's external channels, driven by kernels alone
// (device-streaming; Meyer 2024, section 4.1.1.2). Each lane of an exchange has two kernels on its rank's device, one
// sending, one receiving, which run for all rounds (../pair/, channel.cl).
//
// In HLS C++ (runtime `hls`) the channels are AXI streams of the same width, through the same pipes (channel_hls.cpp).
//
// Requirements on the device, so far the FPGA emulator and HLS's C simulation:
//   * A link is one direction from a rank to a rank on one lane. It has two channels, each CHANNEL_WIDTH = 32 bytes
//     wide (the serial channel of the BittWare 520N); chunk k of a message goes through channel k % 2, and a message
//     takes as many chunks of one as of the other, its end filled with zeros.
//   * The emulator gives an external channel as a file, whose name is the channel's io("..."), opened when a kernel
//     that uses the channel first starts. Here each channel is a named pipe.
//   * The receiving rank makes the pipes in a private folder under TMPDIR (or /tmp) and tells the sender their paths.
//     Both ends open them for reading and writing, so that nobody waits in opening them or sees their end, and then the
//     receiver removes the names: nothing is left, however a run ends. Kernels know a channel as /proc/self/fd/N.
//   * Between hosts both ranks have pipes of their own, and threads relay what passes through them over TCP, one
//     connection a channel, to a port of the receiver (relay.hpp): one that its system gives it, or from --relay-port
//     on. --pipeline-through world does so between ranks of one host, too.
//   * Transport vnx: all links by frames over UDP, a port of the receiver for each channel. Frames that get lost are
//   not
//     sent again: a kernel waits for their bytes in vain.
//   * The emulator reads ahead (4 KiB), so a link has one receiving program for life. The links of all ranks for one
//     pattern of neighbours are a circuit; a transport keeps its circuits with their programs, and an exchange between
//     neighbours that were wired before costs nothing but its buffers.
//   * Errors: what one lane cannot do is Unsupported, with what to use instead; a neighbour that dies leaves kernels
//     waiting in a channel, which ends with --timeout's sentence.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "transport/port.hpp"

namespace plumb::channel {

constexpr std::size_t channel_width = 32;    // bytes, CHANNEL_WIDTH of channel.cl
constexpr std::size_t channels_of_link = 2;  // of a direction
constexpr std::size_t most_links = 64;       // into a rank with fixed ports

// This rank's end of a link; its pipes are open during its lifetime.
class LinkEnd {
 public:
  LinkEnd() = default;
  ~LinkEnd();
  LinkEnd(const LinkEnd&) = delete;
  LinkEnd& operator=(const LinkEnd&) = delete;

  // The receiver makes the pipes in a private folder; the sender opens them and removes the names.
  const std::string& make();
  void open(const std::string& folder);
  void take_names_away();
  // Name of a channel for a kernel.
  std::string name(std::size_t channel) const;
  int file(std::size_t channel) const { return files_[channel]; }

 private:
  std::array<int, channels_of_link> files_{-1, -1};
  std::string folder_;  // "" = removed
};

class Relay;

// A lane's kernels on this device, connected to its links. With kernels beside, the first lane has the program of all.
struct Pair {
  Pair();
  ~Pair();
  LinkEnd outgoing, incoming;
  std::vector<std::unique_ptr<Relay>> relays;  // of links to other hosts
  std::unique_ptr<Program> program;
  bool under_way = false;
};
using Circuit = std::vector<std::unique_ptr<Pair>>;  // of this rank's lanes

// All circuits of a transport.
class Wiring {
 public:
  // relayed: by TCP even between ranks of one host; on any port, or on ports from `port` on. `frame`: by frames of as
  // many bytes over UDP instead, if not 0. Collective.
  Wiring(World& world, Device& device, bool relayed, std::uint16_t port, std::size_t frame);
  // The circuit of these lanes' neighbours, with the kernel `kernel` of `source` on the port, and in one program with
  // those of `beside` unless it is empty. Collective.
  Circuit& circuit(const std::vector<Lane>& lanes, const KernelSource& source, const std::string& kernel,
                   const std::string& beside);
  Device& device() { return device_; }

 private:
  Circuit wire(const std::vector<Lane>& lanes, const KernelSource& source, const std::string& kernel,
               const std::string& beside);
  void build(Circuit& circuit, const std::vector<Lane>& lanes, const KernelSource& source, const std::string& kernel,
             const std::string& beside);
  std::uint16_t port_of(std::size_t listener) const;
  bool near(int rank) const { return !relayed_ && frame_ == 0 && same_host_[static_cast<std::size_t>(rank)]; }

  World& world_;
  Device& device_;
  bool relayed_;
  std::uint16_t port_;
  std::size_t frame_;                        // bytes; 0: no frames
  std::vector<bool> same_host_;              // by rank
  std::map<std::string, Circuit> circuits_;  // by all ranks' senders, receivers and lanes, and the kernels
};

}  // namespace plumb::channel
