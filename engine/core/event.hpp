// Events of a run, typed: listeners print them as text or as lines of JSON.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace plumb {

struct Warning {
  std::string code;  // stable identifier for programs: "unbound", "unstable"
  std::string text;  // sentence for the user
};

// Listeners write to stderr; stdout is reserved for results. Only rank 0 prints events.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void started(const std::string& benchmark, std::size_t cases, int ranks, const std::string& record) = 0;
  virtual void case_started(std::size_t index, std::size_t of, const std::string& key) = 0;
  virtual void case_finished(std::size_t index, std::size_t of, const std::string& key, const std::string& outcome,
                             const std::string& reason, std::size_t repetitions) = 0;
  virtual void warned(const Warning& warning) = 0;
  virtual void failed(const std::string& sentence) = 0;
  virtual void finished(const std::string& outcome, int exit_status, double seconds) = 0;
};

// kind: "text", "json" or "none" ("none" still prints warnings and cases that did not pass, as text).
std::unique_ptr<Listener> make_listener(const std::string& kind);

}  // namespace plumb
