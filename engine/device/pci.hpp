// PCI addresses of devices, by which other interfaces (power sensors, topology) name the same board.
#pragma once

#include <functional>
#include <string>

#include "device/device.hpp"

namespace plumb {

// Of a runtime's device, by its ordinal; registered under the runtime's name. Never throws.
using PciAddressOf = std::function<std::string(int ordinal)>;

// "0000:18:00.0"; "" if the device is not on a PCI bus, or its runtime does not tell.
std::string pci_address(const DeviceInfo& info);

}  // namespace plumb
