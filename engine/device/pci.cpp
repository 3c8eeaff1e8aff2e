#include "device/pci.hpp"

namespace plumb {

std::string pci_address(const DeviceInfo& info) {
  const PciAddressOf* address = Registry<PciAddressOf>::instance().find(info.runtime);
  return address == nullptr ? "" : (*address)(info.ordinal);
}

}  // namespace plumb
