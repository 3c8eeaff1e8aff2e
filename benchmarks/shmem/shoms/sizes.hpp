// Message sizes and names of tests from files, as SHOMS takes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::shoms {

// One number of bytes a line; empty lines and what follows a # do not count. Throws UsageError, with the line, for
// anything else, for zero, and for a file that cannot be read or has none.
std::vector<std::uint64_t> sizes_in_file(const std::string& path);

// One name a line, in any case; empty lines and what follows a # do not count. Throws UsageError, with the line and a
// name that is near, for a name that is not known.
std::vector<std::string> names_in_file(const std::string& path, const std::vector<std::string>& known);

}  // namespace plumb::shoms
