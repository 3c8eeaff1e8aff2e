// AMD's bitstreams (.xclbin, "axlf" of XRT's xclbin.h): the memory banks and the kernels that they connect.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace plumb {

struct XclbinBank {
  std::string tag;          // "HBM[3]", "DDR[0]", "bank1" (a DDR bank of older platforms), "PLRAM[2]"
  std::uint64_t bytes = 0;  // 0 = unknown
  bool used = false;        // by a kernel
};

struct Xclbin {
  std::vector<XclbinBank> banks;   // by index in the memory topology
  std::vector<std::string> units;  // compute units: "calc:calc_1"
};

bool is_xclbin(std::span<const char> bytes);

// Throws Error for a truncated or invalid file.
Xclbin parse_xclbin(std::span<const char> bytes);

// Index in the topology of a placement of kind default (the first bank that a kernel uses), ddr, hbm or plram; without
// a bank, the first one of that kind that a kernel uses, or else the first. Throws Unsupported, listing the bitstream's
// banks, if it has none.
unsigned topology_index(const Xclbin& bitstream, const Placement& placement);

}  // namespace plumb
