// Limits every wait. A guard names the wait; if it exceeds its limit, the watchdog reports it and ends all ranks. One
// sleeping thread per process, started by the first guard, polling twice a second.
#pragma once

#include <functional>
#include <string>

namespace plumb {

class Watchdog {
 public:
  // on_timeout receives the message and must end the process (World::abort).
  static void start(double limit_seconds, std::function<void(const std::string&)> on_timeout);
  static void stop();
  static double limit_seconds();
};

// Names this thread's wait within a scope; the innermost scope applies. The limit counts from construction or the
// thread's last call of progress(). Constructed and destroyed on one thread.
class Waiting {
 public:
  // least_limit_seconds: minimum limit for long waits; applies to nested scopes, too.
  explicit Waiting(const char* what, double least_limit_seconds = 0);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  static void progress();  // restarts the limit

 private:
  const char* outer_;
  double outer_limit_;
};

}  // namespace plumb
