// Whether all groups of a kernel are resident: for kernels whose groups wait for one another.
#pragma once

#include "device/device.hpp"

namespace plumb {

// A device that can tell derives from it, too.
class ResidentGroups {
 public:
  virtual ~ResidentGroups() = default;
  // How many groups of this kernel run at the same time on a device without other work; 0 where it cannot tell.
  virtual std::uint64_t resident_groups(Kernel& kernel, const KernelRange& range) = 0;
};

}  // namespace plumb
