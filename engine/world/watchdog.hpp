// Every wait has a limit. A guard names what is waited for; when it is not gone in time, the watchdog says so and ends
// all ranks. One sleeping thread a process, started by the first guard, woken twice a second.
#pragma once

#include <functional>
#include <string>

namespace plumb {

class Watchdog {
 public:
  // on_timeout gets a sentence and must end the process (World::abort).
  static void start(double limit_seconds, std::function<void(const std::string&)> on_timeout);
  static void stop();
  static double limit_seconds();
};

// Names what this thread waits for within a scope; nested scopes name the innermost. The limit counts from the
// construction, or from the thread's last call of progress(). Made and destroyed on one thread.
class Waiting {
 public:
  // least_limit_seconds: for what may take longer than the watchdog's limit; it holds for nested scopes, too.
  explicit Waiting(const char* what, double least_limit_seconds = 0);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  static void progress();  // something moved: the limit starts anew

 private:
  const char* outer_;
  double outer_limit_;
};

}  // namespace plumb
