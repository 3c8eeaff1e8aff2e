#include "record/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace plumb {

namespace {

// End of the document after the cases, while the run goes on and after a signal.
Json open_tail(const char* status, Json reason) {
  return {{"clock_sync", nullptr}, {"metrics", Json::array()},    {"warnings", Json::array()}, {"energy", nullptr},
          {"status", status},      {"reason", std::move(reason)}, {"finished", nullptr},       {"outcome", nullptr}};
}

std::string tail_text(const Json& tail) {
  std::string text = tail.dump(-1, ' ', false, Json::error_handler_t::replace);
  return "\n]," + text.substr(1) + "\n";
}

// State for the signal handler: file, position, text.
std::atomic<int> signal_file{-1};
std::atomic<long> signal_offset{0};
std::string signal_text;

// Ends the document after the last complete case, overwriting a partial one. Async-signal-safe.
void end_document(int file, const std::string& tail) {
  const ssize_t wrote = ::pwrite(file, tail.data(), tail.size(), signal_offset);
  if (wrote == static_cast<ssize_t>(tail.size())) (void)!::ftruncate(file, signal_offset + wrote);
}

}  // namespace

RecordWriter::RecordWriter(std::string path, Json head) : path_(std::move(path)), document_(std::move(head)) {
  document_["cases"] = Json::array();
  document_.update(open_tail("running", nullptr));
  if (path_.empty()) return;
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  std::error_code ignored;
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file_ < 0) {
    fail("create", errno);
    return;
  }
  Json before = document_;
  const Json tail = open_tail("running", nullptr);
  for (const auto& [key, value] : tail.items()) before.erase(key);
  before.erase("cases");
  std::string text = before.dump(1, ' ', false, Json::error_handler_t::replace);
  text.resize(text.rfind('\n'));  // without the closing brace
  text += ",\n \"cases\": [";
  end_of_cases_ = static_cast<long>(text.size());
  write_at(text + tail_text(tail), 0);
  signal_text = tail_text(open_tail("aborted", "ended by a signal"));
  signal_offset = end_of_cases_;
  signal_file = file_;
}

RecordWriter::~RecordWriter() {
  if (file_ < 0) return;
  if (signal_file == file_) signal_file = -1;
  ::close(file_);
}

std::string RecordWriter::claim(const std::string& path) {
  const std::filesystem::path wanted(path);
  for (int number = 1;; ++number) {
    std::filesystem::path name = wanted;
    if (number > 1)
      name.replace_filename(fmt::format("{}-{}{}", wanted.stem().string(), number, wanted.extension().string()));
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return path;
    ::close(file);
    return name;
  }
}

void RecordWriter::add_case(const Json& finished) {
  const bool first = document_["cases"].empty();
  document_["cases"].push_back(finished);
  if (file_ < 0) return;
  const std::string text = (first ? "\n" : ",\n") + finished.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::string tail = tail_text(open_tail("running", nullptr));
  const bool sound = problem_.empty();
  write_at(text + tail, end_of_cases_);
  if (!problem_.empty()) {
    if (sound) restore_tail(tail);
    return;
  }
  end_of_cases_ += static_cast<long>(text.size());
  signal_offset = end_of_cases_;
}

// After a failed write (a full disk): ends the document after the last case that fits.
void RecordWriter::restore_tail(const std::string& tail) {
  const ssize_t wrote = ::pwrite(file_, tail.data(), tail.size(), end_of_cases_);
  if (wrote == static_cast<ssize_t>(tail.size())) (void)!::ftruncate(file_, end_of_cases_ + wrote);
}

void RecordWriter::finish(const Json& tail) {
  document_.update(tail);
  if (file_ >= 0) write_all();
}

// Replaces the old file by a new one atomically: readers never see half a document.
void RecordWriter::write_all() {
  signal_file = -1;
  const std::string beside = path_ + ".new";
  const int file = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return fail("create a file beside", errno);
  ::close(file_);
  file_ = file;
  write_at(document_.dump(1, ' ', false, Json::error_handler_t::replace) + "\n", 0);
  if (problem_.empty() && ::fsync(file_) != 0 && errno != EINVAL && errno != EROFS) fail("store", errno);
  if (problem_.empty() && ::rename(beside.c_str(), path_.c_str()) != 0) fail("replace", errno);
  if (!problem_.empty()) ::unlink(beside.c_str());
}

void RecordWriter::write_at(const std::string& text, long offset) {
  if (!problem_.empty()) return;
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::pwrite(file_, text.data() + done, text.size() - done, offset + static_cast<long>(done));
    if (wrote < 0 && errno == EINTR) continue;
    // Special files (a pipe, /dev/full) are not seekable: only the final document is written.
    if (wrote < 0) return fail("write", errno);
    done += static_cast<std::size_t>(wrote);
  }
}

void RecordWriter::fail(const std::string& action, int error) {
  if (problem_.empty())
    problem_ =
        fmt::format("could not {} the record {}: {}; what follows is not kept", action, path_, std::strerror(error));
}

void RecordWriter::abort_from_signal(int) {
  const int file = signal_file;
  if (file >= 0) end_document(file, signal_text);
}

void RecordWriter::abort(const std::string& reason) {
  const int file = signal_file.exchange(-1);  // a later signal must not replace the reason
  if (file >= 0) end_document(file, tail_text(open_tail("aborted", reason)));
}

}  // namespace plumb
