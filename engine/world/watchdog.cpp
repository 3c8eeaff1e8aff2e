#include "world/watchdog.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

#include "core/patience.hpp"

namespace plumb {

namespace {

// The current wait of one thread. The watchdog polls twice a second and may briefly see a new name with an old time;
// `since` is stored first, so that the wait then appears shorter than it is.
struct Wait {
  std::atomic<const char*> what{nullptr};
  std::atomic<double> since{0}, least_limit{0};
};

// The waits of all live threads.
class Waits {
 public:
  std::list<Wait>::iterator add() {
    const std::lock_guard lock(mutex_);
    return waits_.emplace(waits_.end());
  }
  void remove(std::list<Wait>::iterator wait) {
    const std::lock_guard lock(mutex_);
    waits_.erase(wait);
  }
  // Message for a wait above its limit; none if all are within.
  std::optional<std::string> overdue(double now, double limit) {
    const std::lock_guard lock(mutex_);
    for (const Wait& wait : waits_) {
      const char* what = wait.what.load(std::memory_order_acquire);
      const double waited = now - wait.since.load(std::memory_order_relaxed);
      if (what != nullptr && waited >= std::max(limit, wait.least_limit.load(std::memory_order_relaxed)))
        return fmt::format("waited {:.0f} s for {} (limit; --timeout raises it)", waited, what);
    }
    return std::nullopt;
  }
  static Waits& all() {
    static auto* waits = new Waits;  // outlives threads that end after main()
    return *waits;
  }

 private:
  std::mutex mutex_;
  std::list<Wait> waits_;
};

Wait& own_wait() {
  struct Registered {
    std::list<Wait>::iterator wait = Waits::all().add();
    ~Registered() { Waits::all().remove(wait); }
  };
  thread_local const Registered registered;
  return *registered.wait;
}

// Seconds on the kernel's coarse clock, accurate to a few milliseconds at a fifth of the cost, as waits are in timed
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
      const auto overdue = Waits::all().overdue(now(), limit_);
      if (!overdue) continue;
      on_timeout_(*overdue);
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
  kernel_patience_s = limit_seconds / 2;
  thread() = std::make_unique<Thread>(limit_seconds, std::move(on_timeout));
}

void Watchdog::stop() {
  thread().reset();
}

double Watchdog::limit_seconds() {
  return thread() ? thread()->limit() : 0.0;
}

Waiting::Waiting(const char* what, double least_limit_seconds) {
  Wait& wait = own_wait();
  outer_ = wait.what.load(std::memory_order_relaxed);
  outer_limit_ = wait.least_limit.load(std::memory_order_relaxed);
  wait.since.store(now(), std::memory_order_relaxed);
  wait.least_limit.store(std::max(outer_limit_, least_limit_seconds), std::memory_order_relaxed);
  wait.what.store(what, std::memory_order_release);
}

Waiting::~Waiting() {
  Wait& wait = own_wait();
  if (outer_ != nullptr) wait.since.store(now(), std::memory_order_relaxed);
  wait.least_limit.store(outer_limit_, std::memory_order_relaxed);
  wait.what.store(outer_, std::memory_order_release);
}

void Waiting::progress() {
  own_wait().since.store(now(), std::memory_order_relaxed);
}

}  // namespace plumb
