// Version and build of the program, as written to every record.
#pragma once

#include <string>

namespace plumb {

struct BuildInfo {
  std::string version;     // of Plumbline
  std::string commit;      // empty if built outside a repository
  bool dirty;              // uncommitted changes
  std::string build_type;  // CMAKE_BUILD_TYPE
  std::string compiler;    // name and version
  std::string flags;
};

const BuildInfo& build_info();

// Version of the record's layout. Major: readers of the old layout would misread the new one; minor: additions.
inline constexpr const char* schema_version = "1.6.0";

}  // namespace plumb
