#include "benchmarks/shmem/shoms/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <functional>

#include "core/error.hpp"

namespace plumb::shoms {

namespace {

constexpr std::uint64_t largest_message = std::uint64_t{1} << 36;

std::string trimmed(const std::string& line) {
  const std::string text = line.substr(0, line.find('#'));
  const auto first = text.find_first_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Calls take(text, line number) for each line with content.
void for_lines(const char* option, const std::string& path,
               const std::function<void(const std::string&, std::size_t)>& take) {
  errno = 0;
  std::ifstream file(path);
  if (!file) throw UsageError(fmt::format("{} {} cannot be read: {}", option, path, std::strerror(errno)));
  std::string line;
  std::size_t number = 0, taken = 0;
  while (std::getline(file, line)) {
    ++number;
    const std::string text = trimmed(line);
    if (text.empty()) continue;
    take(text, number);
    ++taken;
  }
  if (taken == 0) throw UsageError(fmt::format("{} {} contains no entries", option, path));
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string hint(const std::string& name, const std::vector<std::string>& known) {
  const std::string near = nearest(name, known);
  return near.empty() ? "" : fmt::format(" (did you mean {}?)", near);
}

}  // namespace

std::vector<std::uint64_t> sizes_in_file(const std::string& path) {
  std::vector<std::uint64_t> sizes;
  for_lines("--msglen", path, [&](const std::string& text, std::size_t line) {
    std::uint64_t size = 0;
    const auto end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, size);
    if (error != std::errc{} || stop != end || size == 0 || size > largest_message)
      throw UsageError(fmt::format("--msglen {}, line {}: invalid number of bytes \"{}\"", path, line, text));
    sizes.push_back(size);
  });
  return sizes;
}

std::vector<std::string> names_in_file(const std::string& path, const std::vector<std::string>& known) {
  std::vector<std::string> names;
  for_lines("--input", path, [&](const std::string& text, std::size_t line) {
    const std::string name = lower(text);
    if (std::ranges::find(known, name) == known.end())
      throw UsageError(fmt::format("--input {}, line {}: unknown test {}{}", path, line, text, hint(name, known)));
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  });
  return names;
}

}  // namespace plumb::shoms
