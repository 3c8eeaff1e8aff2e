// JSON with keys in the order they were written, so that records and their goldens read from top to bottom.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace plumb {

using Json = nlohmann::ordered_json;

// JSON has no NaN or infinity: null stands for them, and whoever writes one gives the reason beside it.
inline Json finite_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

}  // namespace plumb
