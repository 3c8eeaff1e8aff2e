// Computing of a given duration, between a transfer's begin and its end.
#pragma once

#include <cstdint>
#include <memory>

#include "device/device.hpp"

namespace plumb::osu {

struct Computing {
  double seconds_per_turn = 0;
  std::uint64_t turns = 0;
  void measure();
  void compute() const { compute(turns); }
  void compute(std::uint64_t so_many) const;
};

// The same by a kernel, on an array of a device, beside whatever the host does.
class DeviceComputing {
 public:
  DeviceComputing(Device& device, std::uint64_t elements);
  void start(double seconds);  // a kernel of about this duration, at least a launch
  void finish() { queue_->finish(); }

 private:
  double seconds_of(std::uint64_t turns);
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Buffer> array_;
  std::uint64_t elements_;
  double launch_ = 0, per_turn_ = 0;  // seconds
};

}  // namespace plumb::osu
