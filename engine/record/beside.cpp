#include "record/beside.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace plumb {

namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// 0, or errno.
int put(const std::string& path, const char* mode, std::string_view contents) {
  File file(std::fopen(path.c_str(), mode), [](std::FILE* one) { return std::fclose(one); });
  if (!file) return errno;
  if (std::fwrite(contents.data(), 1, contents.size(), file.get()) != contents.size()) return errno;
  return std::fclose(file.release()) == 0 ? 0 : errno;
}

}  // namespace

std::string FilesBeside::path_of(const std::string& file) const {
  return std::filesystem::path(record_).replace_filename(file);
}

bool FilesBeside::write(const std::string& name, std::string_view contents) {
  const std::filesystem::path wanted(name);
  std::string file;
  for (int number = 1; file.empty() || earlier_.contains(file); ++number) {
    const std::string numbered =
        number == 1 ? name : fmt::format("{}-{}{}", wanted.stem().string(), number, wanted.extension().string());
    file = fmt::format("{}.{}", std::filesystem::path(record_).stem().string(), numbered);
  }
  const std::string path = path_of(file), fresh = path + ".new";
  if (const int error = put(fresh, "wb", contents); error != 0) {
    std::remove(fresh.c_str());
    return fail(path, error);
  }
  if (std::rename(fresh.c_str(), path.c_str()) != 0) return fail(path, errno);
  files_[name] = file;
  return true;
}

bool FilesBeside::append(const std::string& name, std::string_view contents) {
  if (!files_.contains(name)) return false;  // it could not be written
  const std::string path = path_of(files_[name].get<std::string>());
  const int error = put(path, "ab", contents);
  return error == 0 || fail(path, error);
}

Json FilesBeside::take() {
  for (const auto& [name, file] : files_.items()) earlier_.insert(file.get<std::string>());
  return std::exchange(files_, Json::object());
}

bool FilesBeside::fail(const std::string& path, int error) {
  if (problem_.empty()) problem_ = fmt::format("could not write {}: {}", path, std::strerror(error));
  return false;
}

}  // namespace plumb
