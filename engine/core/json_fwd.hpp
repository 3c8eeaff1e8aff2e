// Forward declaration of Json: including the library costs each source more than a second.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace plumb {

using Json = nlohmann::ordered_json;

}  // namespace plumb
