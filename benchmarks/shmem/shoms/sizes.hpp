// Message sizes of SHOMS: doubling from --minsize to --maxsize, or from a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::shoms {

// minimum, minimum * factor, … up to maximum, in bytes.
std::vector<std::uint64_t> growing_sizes(std::uint64_t minimum, std::uint64_t maximum, std::uint64_t factor);

// One number of bytes a line; empty lines and what follows a # do not count. Throws UsageError, with the line, for
// anything else, for zero, and for a file that cannot be read or has none.
std::vector<std::uint64_t> sizes_in_file(const std::string& path);

// One name a line, in any case; empty lines and what follows a # do not count. Throws UsageError, with the line and a
// name that is near, for a name that is not known.
std::vector<std::string> names_in_file(const std::string& path, const std::vector<std::string>& known);

// The names that a selection picks: parts between commas, each the name of a test, the beginning of names, or a pattern
// with *. All when it is empty. Throws UsageError for a part that picks none.
std::vector<std::string> names_picked(const std::string& selection, const std::vector<std::string>& known);

}  // namespace plumb::shoms
