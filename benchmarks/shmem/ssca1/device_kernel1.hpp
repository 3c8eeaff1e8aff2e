// Variant `device`: tiles of a rank's cells by kernels, and what its last row leaves sent to the next rank's device by
// any transport, a tile of columns at a time.
#pragma once

#include "benchmarks/shmem/ssca1/kernel1.hpp"
#include "measure/benchmark.hpp"
#include "world/team.hpp"

namespace plumb::ssca1 {

// Collective. `tile`: columns of a tile; 0: by the device. `bits` of a score: 16 or 32. `form`: tiles or strips, where
// the device is no accelerator; auto: by its type.
std::unique_ptr<Kernel1> make_device_kernel1(Session& session, Team& team, const Problem& problem, int bits,
                                             std::uint64_t tile, const std::string& form);

// What form strips needs.
bool scores_fit_bytes(const Scores& scores);

// Upper bounds for a rank.
struct DeviceBytes {
  std::uint64_t all = 0, largest_buffer = 0, message = 0;
};
DeviceBytes device_bytes(std::uint64_t length, int ranks, std::uint64_t tile);

}  // namespace plumb::ssca1
