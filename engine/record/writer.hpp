// Writes the record during the run: after every case the file is a complete JSON document, so an aborted run keeps its
// finished cases. A finished case and the document's end are written over the old end in one system call, so the cost
// does not grow with the number of cases.
#pragma once

#include <string>

#include "core/json.hpp"

namespace plumb {

class RecordWriter {
 public:
  // head: everything known before the first case. Empty path: the document stays in memory. An unwritable path is not
  // fatal: problem() gives the reason.
  RecordWriter(std::string path, Json head);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  void add_case(const Json& finished);
  // Adds the results of the whole run and replaces the file atomically (rename).
  void finish(const Json& tail);

  // Creates, empty, the first unused name of x.json, x-2.json, x-3.json, … and returns it; `path` itself if no file can
  // be created.
  static std::string claim(const std::string& path);

  const Json& document() const { return document_; }
  const std::string& path() const { return path_; }
  const std::string& problem() const { return problem_; }

  // For a signal handler: marks the record as aborted. Async-signal-safe.
  static void abort_from_signal(int signal);
  // Likewise with a reason, for a run that gives up; from any thread, not from a signal handler.
  static void abort(const std::string& reason);

 private:
  void write_all();
  void write_at(const std::string& text, long offset);
  void restore_tail(const std::string& tail);
  void fail(const std::string& action, int error);

  std::string path_;
  Json document_;
  std::string problem_;
  int file_ = -1;
  long end_of_cases_ = 0;  // position of the next case
};

}  // namespace plumb
