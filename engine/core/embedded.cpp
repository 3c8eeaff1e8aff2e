#include "core/embedded.hpp"

#include "core/embedded_files.hpp"
#include "core/error.hpp"

namespace plumb {

const std::string& embedded_text(const std::string& path) {
  const auto found = embedded_files().find(path);
  if (found == embedded_files().end()) throw Error("the program contains no file " + path);
  return found->second;
}

}  // namespace plumb
