// JSON that keeps the order of keys, so records and golden files read from top to bottom.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "core/json_fwd.hpp"

// Instantiated once, in json.cpp, which saves a third of each source's compile time.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace plumb {

// JSON has no NaN or infinity: they are written as null, with the reason beside it.
inline Json finite_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

}  // namespace plumb
