// Bytes of a device's memory that this process has allocated, so that too little memory is one message instead of a
// killed process.
#pragma once

#include "device/device.hpp"

namespace plumb {

class Reservation {
 public:
  // taken: bytes of the device that this process has reserved; it outlives the reservation. of_device, of_host: the
  // memories that the bytes come from (both for devices on the host). Throws Error with needed and available.
  Reservation(const DeviceInfo& info, std::uint64_t& taken, std::uint64_t bytes, bool of_device, bool of_host);
  // Empty reservation.
  Reservation() = default;
  ~Reservation() {
    if (taken_ != nullptr) *taken_ -= counted_;
  }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

 private:
  std::uint64_t* taken_ = nullptr;
  std::uint64_t counted_ = 0;
};

}  // namespace plumb
