// Writes the record while the run goes on: after every case the file is a whole JSON document, so that a run that dies
// leaves what it had measured. Cases are the last but one thing in the document; a finished case and the document's end
// are written over the old end in one system call, so the cost does not grow with the number of cases.
#pragma once

#include <string>

#include "core/json.hpp"

namespace plumb {

class RecordWriter {
 public:
  // head: everything known before the first case. path empty: nothing is written to a file, the document is kept.
  // An unwritable path is not fatal: problem() says what is wrong.
  RecordWriter(std::string path, Json head);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  void add_case(const Json& finished);
  // Adds what is known at the end and writes the document anew, in place of the old one at once (rename).
  void finish(const Json& tail);

  // The first of x.json, x-2.json, x-3.json, … that was not there, made empty, so that nobody else gets it; `path`
  // itself where no file can be made.
  static std::string claim(const std::string& path);

  const Json& document() const { return document_; }
  const std::string& path() const { return path_; }
  const std::string& problem() const { return problem_; }

  // The end that a signal handler writes: marks the record as aborted. Async-signal-safe.
  static void abort_from_signal(int signal);
  // The same with a reason, for a run that gives up by itself; from any thread, not from a signal handler.
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
  long end_of_cases_ = 0;  // where the next case goes
};

}  // namespace plumb
