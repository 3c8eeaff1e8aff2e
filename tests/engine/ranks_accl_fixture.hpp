// Transports accl-tcp and accl-udp on N ranks, for tests of the engine.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "device/select.hpp"
#include "tests/engine/ranks_fixture.hpp"
#include "transport/accl/accl.hpp"

namespace plumb::accl {

class AcclFixture : public ::testing::Test {
 protected:
  using Options = std::map<std::string, std::string>;

  AcclFixture() {
    const DeviceCatalogue catalogue;
    World& world = test_world();
    device_ =
        catalogue.open(catalogue.choose({"native", "", "", "native"}, world.rank(), world.size(), world.local_rank()));
  }

  std::unique_ptr<EngineTransport> make(const std::string& name, const std::string& approach, const Options& given) {
    return make(find_transport(name), approach, given);
  }
  std::unique_ptr<EngineTransport> make(const TransportEntry& entry, const std::string& approach,
                                        const Options& given) {
    TransportOptions options;
    for (const auto& [option, value] : given) options.find(option)->parse(value);
    auto made = entry.make(test_world(), *device_, {approach, &options});
    return std::unique_ptr<EngineTransport>(dynamic_cast<EngineTransport*>(made.release()));
  }

  std::unique_ptr<Device> device_;
};

}  // namespace plumb::accl
