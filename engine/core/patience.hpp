// Limit of a kernel's wait for data of another kernel or process.
#pragma once

#include <atomic>

namespace plumb {

// Seconds; half of the watchdog's limit once that is started, so that the kernel's own message comes first.
inline std::atomic<double> kernel_patience_s{30};

}  // namespace plumb
