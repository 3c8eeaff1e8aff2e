// Polling under the watchdog.
#pragma once

#include "transport/idle.hpp"
#include "world/watchdog.hpp"

namespace plumb::npb {

// Polls `done` until it returns true, yielding the core from time to time. `what` names the wait.
template <class Done>
void wait_until(const char* what, Done done) {
  for (int looks = 0; looks < 64; ++looks)
    if (done()) return;
  const Waiting waiting(what);
  for (Idle idle(true); !done();) idle.look();
}

}  // namespace plumb::npb
