// Files beside the record: x.json has x.stations.csv. Any benchmark may write them, on rank 0 (Session::files); the
// facts of the case name them. A file that cannot be written is a warning, as a record is.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/json.hpp"

namespace plumb {

class FilesBeside {
 public:
  // record: the record's path.
  explicit FilesBeside(std::string record) : record_(std::move(record)) {}

  // Writes a whole file, replacing an older one atomically. name: "stations.csv"; a name that an earlier case of the
  // run has used gets a number. Returns false if it cannot be written.
  bool write(const std::string& name, std::string_view contents);
  // Adds to a file that this case has written.
  bool append(const std::string& name, std::string_view contents);

  // The files of the case that ends, by name, as names in the record's folder: {"stations.csv": "x.stations.csv"}.
  Json take();
  // The first failure since the last call; "" = none.
  std::string take_problem() { return std::exchange(problem_, {}); }

 private:
  std::string path_of(const std::string& file) const;
  bool fail(const std::string& path, int error);

  std::string record_, problem_;
  Json files_ = Json::object();
  std::set<std::string> earlier_;
};

}  // namespace plumb
