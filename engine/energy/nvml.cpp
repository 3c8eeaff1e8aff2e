// NVIDIA GPUs by NVML (NVML API Reference): the energy counter, in mJ since the driver was loaded, and where a GPU has
// none the instantaneous power, field 186, in mW. nvmlDeviceGetPowerUsage is not used: since Ampere it is a mean over a
// second.
#include <fmt/format.h>

#include <utility>

#include "core/error.hpp"
#include "device/cuda/shared_library.hpp"
#include "energy/sensor.hpp"

namespace plumb::energy {

namespace {

using Handle = void*;

struct PciInfo {  // nvmlPciInfo_t
  char legacy[16];
  unsigned domain, bus, device, ids, subsystem;
  char address[32];
};

struct FieldValue {  // nvmlFieldValue_t
  unsigned field = 186, scope = 0;
  long long timestamp = 0, latency_us = 0;
  int type = 0, status = 0;
  union {
    unsigned number;
    unsigned long long bytes;
  } value{};
};

struct Nvml {
  int (*start)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*device)(unsigned, Handle*) = nullptr;
  int (*pci)(Handle, PciInfo*) = nullptr;
  int (*energy)(Handle, unsigned long long*) = nullptr;
  int (*fields)(Handle, int, FieldValue*) = nullptr;
  int (*limit)(Handle, unsigned*) = nullptr;
  int (*clock)(Handle, int, unsigned*) = nullptr;
  int (*reasons)(Handle, unsigned long long*) = nullptr;
  const char* (*text)(int) = nullptr;
  std::string problem;

  Nvml() {
    cuda::SharedLibrary library({"libnvidia-ml.so.1"});
    const bool whole =
        library && library.find(start, "nvmlInit_v2") && library.find(count, "nvmlDeviceGetCount_v2") &&
        library.find(device, "nvmlDeviceGetHandleByIndex_v2") && library.find(pci, "nvmlDeviceGetPciInfo_v3") &&
        library.find(energy, "nvmlDeviceGetTotalEnergyConsumption") &&
        library.find(fields, "nvmlDeviceGetFieldValues") && library.find(limit, "nvmlDeviceGetEnforcedPowerLimit") &&
        library.find(clock, "nvmlDeviceGetClockInfo") &&
        library.find(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons") && library.find(text, "nvmlErrorString");
    if (!whole)
      problem = "NVML is missing: " + library.problem();
    else if (const int status = start(); status != 0)
      problem = fmt::format("NVML did not start: {}", text(status));
  }
};

const Nvml& nvml() {
  static const Nvml library;
  return library;
}

void check(int status, const std::string& name) {
  if (status != 0)
    throw Error(fmt::format("{} cannot be read: NVML reports {} ({})", name, nvml().text(status), status));
}

// Bits of nvmlDeviceGetCurrentClocksThrottleReasons.
constexpr std::pair<unsigned long long, const char*> words[]{
    {0x4, "power"}, {0x8, "hardware"}, {0x20, "heat"}, {0x40, "heat"}, {0x80, "power brake"}};

class NvmlSensor : public Sensor {
 public:
  NvmlSensor(SensorInfo info, Handle device) : Sensor(std::move(info)), device_(device) {}

  double read() override {
    if (info().kind == Kind::counter) {
      unsigned long long millijoules = 0;
      check(nvml().energy(device_, &millijoules), info().name);
      return static_cast<double>(millijoules);
    }
    FieldValue field;
    check(nvml().fields(device_, 1, &field), info().name);
    check(field.status, info().name);
    return field.value.number;
  }

  Json state() override {
    Json state = Json::object();
    unsigned milliwatts = 0, clock = 0;
    unsigned long long reasons = 0;
    if (nvml().limit(device_, &milliwatts) == 0) state["limit_w"] = milliwatts * 1e-3;
    if (nvml().clock(device_, 1, &clock) == 0) state["clock_mhz"] = clock;         // multiprocessors
    if (nvml().clock(device_, 2, &clock) == 0) state["memory_clock_mhz"] = clock;  // memory
    if (nvml().reasons(device_, &reasons) == 0) {
      state["throttled"] = Json::array();
      for (const auto& [bit, word] : words)
        if ((reasons & bit) != 0) state["throttled"].push_back(word);
    }
    return state;
  }

 private:
  Handle device_;
};

std::string address_of(const PciInfo& pci) {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
}

// Both kinds: the counter, and the instantaneous power as a second witness of the same thing.
void add(Handle device, const std::string& address, Found& found) {
  for (const Kind kind : {Kind::counter, Kind::power}) {
    SensorInfo info;
    info.reader = "nvml";
    info.name = fmt::format("nvml:{}{}", address, kind == Kind::power ? "/power" : "");
    info.domain = Domain::device;
    info.of = address;
    info.kind = kind;
    info.unit = kind == Kind::counter ? "mJ" : "mW";
    info.interval_s = kind == Kind::counter ? 0.1 : 0.025;  // upper bounds; measured at idle
    info.accuracy = 0.05;                                   // NVML API Reference, nvmlDeviceGetPowerUsage: +/- 5 %
    info.poll_s = 0.005;
    auto sensor = std::make_unique<NvmlSensor>(std::move(info), device);
    try {
      sensor->read();
      found.sensors.push_back(std::move(sensor));
    } catch (const Error& error) {
      if (found.reason.empty()) found.reason = error.what();
    }
  }
}

Found find_nvml(const Place&) {
  Found found;
  unsigned devices = 0;
  if (!nvml().problem.empty())
    found.reason = nvml().problem;
  else if (nvml().count(&devices) != 0 || devices == 0)
    found.reason = "NVML shows no GPU";
  for (unsigned number = 0; number < devices; ++number) {
    Handle device = nullptr;
    PciInfo pci{};
    if (nvml().device(number, &device) != 0 || nvml().pci(device, &pci) != 0) continue;
    add(device, address_of(pci), found);
  }
  return found;
}

const RegisteredReader registered_nvml("nvml", find_nvml);

}  // namespace

}  // namespace plumb::energy
