// What two ranks tell each other while they compile an exchange: handles of memory that both will use.
#pragma once

#include <string>
#include <vector>

#include "transport/transport.hpp"

namespace plumb {

// Each rank tells the peer of each of its `gives` a text and hears one from the peer of each of its `takes`, in their
// order. What a rank gives for a lane of a step is what its peer takes for the same; so both lists are of one step.
std::vector<std::string> trade(World& world, const std::vector<Transfer>& gives, const std::vector<std::string>& texts,
                               const std::vector<Transfer>& takes);

// Does what neighbours wait for: an Error of this rank alone would leave them waiting, so it becomes Fatal. Unsupported
// passes, because all ranks find it alike.
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

// Texts in one, and apart again.
std::string packed(const std::vector<std::string>& texts);
std::vector<std::string> unpacked(const std::string& text);

}  // namespace plumb
