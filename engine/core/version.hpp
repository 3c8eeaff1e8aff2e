// What was built: named in every record.
#pragma once

#include <string>

namespace plumb {

struct BuildInfo {
  std::string version;     // of Plumbline
  std::string commit;      // empty when built outside a repository
  bool dirty;              // the working tree had changes
  std::string build_type;  // CMake's
  std::string compiler;    // name and version
  std::string flags;
};

const BuildInfo& build_info();

// Version of the record's layout. The first number changes when a reader of the old layout would misread the new one,
// the second when something is added.
inline constexpr const char* schema_version = "1.2.0";

}  // namespace plumb
