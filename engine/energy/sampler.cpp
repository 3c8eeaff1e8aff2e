#include "energy/sampler.hpp"

#include <algorithm>
#include <chrono>

#include "core/error.hpp"
#include "core/seconds.hpp"

namespace plumb::energy {

namespace {

constexpr double shortest_poll_s = 1.5e-3, longest_poll_s = 0.25;
constexpr double state_s = 0.1;

}  // namespace

double poll_of(const SensorInfo& info) {
  return info.poll_s > 0 ? info.poll_s : std::clamp(info.interval_s / 10, shortest_poll_s, longest_poll_s);
}

Sampler::~Sampler() {
  if (thread_.joinable()) stop();
}

void Sampler::start() {
  sampled_.clear();
  for (const Sensor* sensor : sensors_) sampled_.push_back({Track(sensor->info())});
  due_.assign(sensors_.size(), {});
  stops_ = paused_ = false;
  for (std::size_t i = 0; i < sensors_.size(); ++i) read(i);
  thread_ = std::thread([this] { loop(); });
}

std::vector<Sampled> Sampler::stop() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  woken_.notify_one();
  thread_.join();
  for (std::size_t i = 0; i < sensors_.size(); ++i) read(i);
  return std::move(sampled_);
}

void Sampler::read(std::size_t number) {
  Sampled& sampled = sampled_[number];
  if (!sampled.problem.empty()) return;
  Due& due = due_[number];
  try {
    const double begin = now_seconds();
    const double raw = sensors_[number]->read();
    sampled.track.add(begin, now_seconds(), raw);
  } catch (const Error& error) {
    sampled.problem = error.what();
  }
  const double now = now_seconds();
  if (now >= due.state_at) {
    sampled.states.push_back(sensors_[number]->state());
    due.state_at = now + state_s;
  }
  due.at = now + poll_of(sensors_[number]->info());
}

// Reads the sensors that are due; returns when the next one is.
double Sampler::read_due() {
  double next = now_seconds() + longest_poll_s;
  for (std::size_t i = 0; i < due_.size(); ++i) {
    if (now_seconds() >= due_[i].at) read(i);
    next = std::min(next, due_[i].at);
  }
  return next;
}

void Sampler::loop() {
  std::unique_lock lock(mutex_);
  while (!stops_) {
    if (paused_) {
      woken_.wait(lock, [this] { return stops_ || !paused_; });
      continue;
    }
    reads_ = true;
    lock.unlock();
    const double next = read_due();
    lock.lock();
    reads_ = false;
    rested_.notify_one();
    woken_.wait_for(lock, std::chrono::duration<double>(std::max(0.0, next - now_seconds())),
                    [this] { return stops_ || paused_; });
  }
}

void Sampler::pause() {
  std::unique_lock lock(mutex_);
  paused_ = true;
  woken_.notify_one();
  rested_.wait(lock, [this] { return !reads_; });
}

void Sampler::resume() {
  const std::lock_guard lock(mutex_);
  paused_ = false;
  woken_.notify_one();
}

}  // namespace plumb::energy
