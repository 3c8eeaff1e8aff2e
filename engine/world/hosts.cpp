#include "world/hosts.hpp"

#include <unistd.h>

#include <array>
#include <fstream>

#include "world/collect.hpp"

namespace plumb {

namespace {

std::string host_identity() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string identity;
  std::getline(file, identity);
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return identity + " " + name.data();
}

}  // namespace

std::vector<std::string> hosts_of_ranks(World& world) {
  return all_texts(world, host_identity());
}

}  // namespace plumb
