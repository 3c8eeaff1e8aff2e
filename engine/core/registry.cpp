#include "core/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb {

std::string unknown_name(const std::string& kind, const std::string& name, const std::vector<std::string>& known) {
  const std::string near = nearest(name, known);
  return fmt::format("unknown {}: '{}' (choose from {}){}", kind, name, fmt::join(known, ", "),
                     near.empty() ? "" : "; did you mean " + near + "?");
}

}  // namespace plumb
