#include "energy/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/error.hpp"

namespace plumb::energy {

namespace {

struct Text {
  std::string line;
  int error = 0;
};

Text first_line(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {{}, errno};
  std::array<char, 256> bytes;
  const ssize_t size = ::read(file, bytes.data(), bytes.size());
  const int error = size < 0 ? errno : 0;
  ::close(file);
  if (size < 0) return {{}, error};
  const std::string text(bytes.data(), static_cast<std::size_t>(size));
  return {text.substr(0, text.find('\n')), 0};
}

// Remedy for a file that this user may not read.
std::string whom_to_ask(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return "ask the administrator for access";
  const group* owner = ::getgrgid(status.st_gid);
  const std::string name = owner == nullptr ? std::to_string(status.st_gid) : owner->gr_name;
  const bool by_group = (status.st_mode & S_IRGRP) != 0;
  return by_group
             ? fmt::format("ask to join group {}, which may read it", name)
             : fmt::format("only its owner may read it (since Linux 5.10 root): ask for read access of group {}", name);
}

}  // namespace

std::optional<std::string> line_of(const std::string& path) {
  Text text = first_line(path);
  if (text.error != 0) return std::nullopt;
  return std::move(text.line);
}

double number_in(const std::string& path) {
  const Text text = first_line(path);
  if (text.error == EACCES || text.error == EPERM)
    throw Error(fmt::format("{} may not be read: {}", path, whom_to_ask(path)));
  if (text.error != 0) throw Error(fmt::format("{} cannot be read: {}", path, std::strerror(text.error)));
  char* end = nullptr;
  const double value = std::strtod(text.line.c_str(), &end);
  if (end == text.line.c_str() || !std::isfinite(value))
    throw Error(fmt::format("{} should hold a number, not \"{}\"", path, text.line));
  return value;
}

std::optional<double> number_if_any(const std::string& path) {
  try {
    return number_in(path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<std::string> entries(const std::string& folder, const std::string& prefix) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename();
    if (name.starts_with(prefix) && !name.starts_with('.')) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string pci_of(const std::string& folder) {
  std::error_code error;
  const std::string name = std::filesystem::canonical(folder + "/device", error).filename();
  const bool is_address = !error && name.size() == 12 && name[4] == ':' && name[7] == ':' && name[10] == '.';
  return is_address ? name : "";
}

Json FileSensor::state() {
  if (limit_path_.empty()) return Json::object();
  const auto limit = number_if_any(limit_path_);
  if (!limit || *limit <= 0) return Json::object();
  return {{"limit_w", *limit * limit_scale_}};
}

}  // namespace plumb::energy
