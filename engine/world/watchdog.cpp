#include "world/watchdog.hpp"

#include <fmt/format.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace plumb {

namespace {

std::atomic<const char*> waiting_for{nullptr};
std::atomic<double> waiting_since{0};

// Seconds on the kernel's coarse clock: a few milliseconds wrong, but a fifth of the price, for waits stand in timed
// loops.
double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class Thread {
 public:
  Thread(double limit, std::function<void(const std::string&)> on_timeout)
      : limit_(limit), on_timeout_(std::move(on_timeout)), thread_([this] { watch(); }) {}

  ~Thread() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

  double limit() const { return limit_; }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::milliseconds(500), [this] { return stopping_; })) {
      const double since = waiting_since.load();
      const char* what = waiting_for.load();
      const double waited = now() - since;
      if (what == nullptr || waited < limit_) continue;
      on_timeout_(fmt::format("waited {:.0f} s for {} (the limit; --timeout raises it)", waited, what));
      return;
    }
  }

  double limit_;
  std::function<void(const std::string&)> on_timeout_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

std::unique_ptr<Thread>& thread() {
  static std::unique_ptr<Thread> instance;
  return instance;
}

}  // namespace

void Watchdog::start(double limit_seconds, std::function<void(const std::string&)> on_timeout) {
  stop();
  thread() = std::make_unique<Thread>(limit_seconds, std::move(on_timeout));
}

void Watchdog::stop() {
  thread().reset();
}

double Watchdog::limit_seconds() {
  return thread() ? thread()->limit() : 0.0;
}

// Relaxed: the watchdog looks twice a second and may see either order for a moment, when nothing has waited for long.
Waiting::Waiting(const char* what) : outer_(waiting_for.load(std::memory_order_relaxed)) {
  waiting_since.store(now(), std::memory_order_relaxed);
  waiting_for.store(what, std::memory_order_relaxed);
}

Waiting::~Waiting() {
  if (outer_ != nullptr) waiting_since.store(now(), std::memory_order_relaxed);
  waiting_for.store(outer_, std::memory_order_relaxed);
}

void Waiting::progress() {
  waiting_since.store(now(), std::memory_order_relaxed);
}

}  // namespace plumb
