// What an action is refused with.
#pragma once

#include <string>

#include "core/error.hpp"

namespace plumb {

// The sentence of the Error that it throws; "" when it throws none.
inline std::string refusal(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace plumb
