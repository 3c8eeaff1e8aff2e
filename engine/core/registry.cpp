#include "core/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb {

std::string unknown_name(const std::string& kind, const std::string& name, const std::vector<std::string>& known) {
  const std::string near = nearest(name, known);
  return fmt::format("there is no {} called \"{}\"{}; there are: {}", kind, name,
                     near.empty() ? "" : " (did you mean " + near + "?)", fmt::join(known, ", "));
}

}  // namespace plumb
