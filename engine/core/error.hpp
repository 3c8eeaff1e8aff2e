// What can go wrong, and how it is said. An error carries one sentence for a person; where it happened (rank, host,
// device) is added in one place, by the program, which knows.
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

// Text with what is very long in it cut: a word of more than 200 bytes, a whole of more than 4,000. Their lengths are
// said.
std::string shortened(const std::string& text);

// The user asked for what cannot be: found before anything is started. Says what was given, shortened.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& sentence) : Error(shortened(sentence)) {}
};

// What was asked for exists, but not here (a type that the device lacks, a transport that its memory rules out).
class Unsupported : public Error {
 public:
  using Error::Error;
};

// What one rank met while others wait for it, so that no case can have it as its outcome: it ends the run.
class Fatal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A library's code, turned into a sentence: "NAME: could not DO: LIBRARY_NAME (code): text. remedy".
std::string library_sentence(const std::string& action, const std::string& library, long code,
                             const std::string& code_name, const std::string& remedy);

// The nearest of some names to a mistyped one, or "" when none is near (for "did you mean").
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
