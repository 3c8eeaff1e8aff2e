// Message sizes and test names from files, in SHOMS' format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::shoms {

// One number of bytes per line; empty lines and comments (#) are ignored. Throws UsageError, with the line, for
// anything else, for zero, and for an unreadable or empty file.
std::vector<std::uint64_t> sizes_in_file(const std::string& path);

// One name per line, in any case; empty lines and comments (#) are ignored. Throws UsageError, with the line and a
// similar name, for an unknown name.
std::vector<std::string> names_in_file(const std::string& path, const std::vector<std::string>& known);

}  // namespace plumb::shoms
