// Reads sensors in a thread of its own.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "energy/track.hpp"

namespace plumb::energy {

// Seconds between readings of a sensor.
double poll_of(const SensorInfo& info);

// Readings of one sensor while a sampler ran.
struct Sampled {
  Track track;
  std::vector<Json> states = {};  // Sensor::state() about ten times a second
  std::string problem = {};       // of the first reading that failed; later ones are not tried
};

class Sampler {
 public:
  // The sensors must live as long as this object.
  explicit Sampler(std::vector<Sensor*> sensors) : sensors_(std::move(sensors)) {}
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  void start();                 // the first readings are made on return
  std::vector<Sampled> stop();  // by sensor; the last readings are made at once

  // Between start() and stop(). After pause() the thread reads nothing, nor wakes, until resume(). Meanwhile
  // read_paused() reads in the calling thread what is due.
  void pause();
  void read_paused() { read_due(); }
  void resume();

 private:
  struct Due {
    double at = 0, state_at = 0;
  };
  void loop();
  void read(std::size_t number);
  double read_due();

  std::vector<Sensor*> sensors_;
  std::vector<Sampled> sampled_;
  std::vector<Due> due_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable woken_, rested_;
  bool stops_ = false, paused_ = false, reads_ = false;
};

}  // namespace plumb::energy
