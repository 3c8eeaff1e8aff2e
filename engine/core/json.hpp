// JSON with keys in the order they were written, so that records and their goldens read from top to bottom.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "core/json_fwd.hpp"

// Instantiated once, in json.cpp: a third of the time that a source takes.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace plumb {

// JSON has no NaN or infinity: null stands for them, and whoever writes one gives the reason beside it.
inline Json finite_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

}  // namespace plumb
