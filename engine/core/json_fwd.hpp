// Json's name alone, for headers that only pass it on: the whole of it costs a source more than a second.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace plumb {

using Json = nlohmann::ordered_json;

}  // namespace plumb
