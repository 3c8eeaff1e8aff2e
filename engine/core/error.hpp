// Errors and their messages. An error holds one sentence; the program adds rank, host and device.
#pragma once

#include <stdexcept>
#include <string>

namespace plumb {

enum class ExitStatus : int { passed = 0, wrong_answer = 1, usage = 2, error = 3, slow = 4 };

// Something failed while running.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& sentence) : std::runtime_error(sentence) {}
};

// Shortens long text: words above 200 bytes, the whole above 4,000 bytes; appends the original lengths.
std::string shortened(const std::string& text);

// Invalid input, found before anything is started. Holds the given value, shortened.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& sentence) : Error(shortened(sentence)) {}
};

// The request is valid but not available here (a type that the device lacks, a transport that cannot reach the memory).
class Unsupported : public Error {
 public:
  using Error::Error;
};

// An error of one rank while others wait for it: it ends the run instead of becoming a case's outcome.
class Fatal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Message for a library's error code: "NAME: could not DO: LIBRARY_NAME (code): text. remedy".
std::string library_sentence(const std::string& action, const std::string& library, long code,
                             const std::string& code_name, const std::string& remedy);

// The name closest to a mistyped one, for "did you mean"; "" if none is close.
template <class Names>
std::string nearest(const std::string& typed, const Names& names);
std::size_t edit_distance(const std::string& a, const std::string& b);

template <class Names>
std::string nearest(const std::string& typed, const Names& names) {
  std::string best;
  std::size_t best_distance = typed.size() / 3 + 2;
  for (const auto& name : names) {
    const std::size_t distance = edit_distance(typed, name);
    if (distance < best_distance) {
      best_distance = distance;
      best = name;
    }
  }
  return best;
}

}  // namespace plumb
