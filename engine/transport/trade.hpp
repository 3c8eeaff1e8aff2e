// Messages between pairs of ranks during compilation: handles of shared memory.
#pragma once

#include <string>
#include <vector>

#include "transport/transport.hpp"

namespace plumb {

// Sends a text to the peer of each of `gives` and receives one from the peer of each of `takes`, in order. Both lists
// belong to one step; texts are matched by lane.
std::vector<std::string> trade(World& world, const std::vector<Transfer>& gives, const std::vector<std::string>& texts,
                               const std::vector<Transfer>& takes);

// Runs an action that neighbours wait for: an Error of this rank alone becomes Fatal, as they would wait in vain.
// Unsupported passes, as it occurs on all ranks.
template <class F>
decltype(auto) awaited(const World& world, F&& part) {
  try {
    return part();
  } catch (const Unsupported&) {
    throw;
  } catch (const Error& error) {
    if (world.size() == 1) throw;
    throw Fatal(error.what());
  }
}

// Joins texts into one, and splits it.
std::string packed(const std::vector<std::string>& texts);
std::vector<std::string> unpacked(const std::string& text);

}  // namespace plumb
