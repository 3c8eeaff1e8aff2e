#include "core/event.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "core/json.hpp"

namespace plumb {

namespace {

void say(const std::string& line) {
  fmt::print(stderr, "{}\n", line);
  std::fflush(stderr);
}

class QuietListener : public Listener {
 public:
  void started(const std::string&, std::size_t, int, const std::string&) override {}
  void case_started(std::size_t, std::size_t, const std::string&) override {}
  void case_finished(std::size_t, std::size_t, const std::string& key, const std::string& outcome,
                     const std::string& reason, std::size_t) override {
    if (outcome == "unsupported") say(fmt::format("warning: {} is unsupported: {}", key, reason));
    if (outcome == "failed" || outcome == "error") say(fmt::format("error: {}: {}", key, reason));
  }
  void warned(const Warning& warning) override { say("warning: " + warning.text); }
  void failed(const std::string& sentence) override { say("error: " + sentence); }
  void finished(const std::string&, int, double) override {}
};

// One line a case; on a terminal the running case overwrites itself.
class TextListener : public QuietListener {
 public:
  void started(const std::string& benchmark, std::size_t cases, int ranks, const std::string& record) override {
    say(fmt::format("{}: {} case{} on {} rank{}{}", benchmark, cases, cases == 1 ? "" : "s", ranks,
                    ranks == 1 ? "" : "s", record.empty() ? "" : ", record in " + record));
  }
  void case_started(std::size_t index, std::size_t of, const std::string& key) override {
    if (terminal_) fmt::print(stderr, "\r\033[K[{}/{}] {} …", index, of, key);
  }
  void case_finished(std::size_t index, std::size_t of, const std::string& key, const std::string& outcome,
                     const std::string& reason, std::size_t repetitions) override {
    if (terminal_) fmt::print(stderr, "\r\033[K");
    if (terminal_ && outcome == "passed" && index < of) return;
    say(fmt::format("[{}/{}] {}: {}{} ({} repetitions)", index, of, key, outcome, reason.empty() ? "" : ", " + reason,
                    repetitions));
  }
  void finished(const std::string& outcome, int, double seconds) override {
    say(fmt::format("{} in {:.1f} s", outcome, seconds));
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
};

class JsonListener : public Listener {
 public:
  void started(const std::string& benchmark, std::size_t cases, int ranks, const std::string& record) override {
    write({{"event", "start"},
           {"benchmark", benchmark},
           {"cases", cases},
           {"ranks", ranks},
           {"record", record.empty() ? Json(nullptr) : Json(record)}});
  }
  void case_started(std::size_t index, std::size_t of, const std::string& key) override {
    write({{"event", "case_started"}, {"index", index}, {"of", of}, {"key", key}});
  }
  void case_finished(std::size_t index, std::size_t of, const std::string& key, const std::string& outcome,
                     const std::string& reason, std::size_t repetitions) override {
    write({{"event", "case_finished"},
           {"index", index},
           {"of", of},
           {"key", key},
           {"outcome", outcome},
           {"reason", reason.empty() ? Json(nullptr) : Json(reason)},
           {"repetitions", repetitions}});
  }
  void warned(const Warning& warning) override {
    write({{"event", "warning"}, {"code", warning.code}, {"text", warning.text}});
  }
  void failed(const std::string& sentence) override { write({{"event", "error"}, {"text", sentence}}); }
  void finished(const std::string& outcome, int exit_status, double seconds) override {
    write({{"event", "finish"}, {"outcome", outcome}, {"exit", exit_status}, {"seconds", seconds}});
  }

 private:
  static void write(const Json& event) { say(event.dump(-1, ' ', false, Json::error_handler_t::replace)); }
};

}  // namespace

std::unique_ptr<Listener> make_listener(const std::string& kind) {
  if (kind == "json") return std::make_unique<JsonListener>();
  if (kind == "text") return std::make_unique<TextListener>();
  return std::make_unique<QuietListener>();
}

}  // namespace plumb
