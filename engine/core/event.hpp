// What happens during a run, as typed events: one listener turns them into text, another into lines of JSON.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace plumb {

struct Warning {
  std::string code;  // a stable word for programs: "unbound", "unstable"
  std::string text;  // a sentence for people
};

// Listeners write to stderr; results have stdout for themselves. Only rank 0 has a listener that speaks.
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

// kind: "text", "json" or "none" (none still says as text what did not pass, and warnings).
std::unique_ptr<Listener> make_listener(const std::string& kind);

}  // namespace plumb
