// noise with quanta of wrong work: mutant-noise-WAY, in each of its cases.
#include <functional>

#include "benchmarks/device/noise/noise.hpp"

namespace plumb::mutants {

namespace {

// The executed share of quantum `index`, in steps, bytes or rounds.
using DoneOfQuantum = std::function<std::uint64_t(std::uint64_t index, std::uint64_t whole)>;

class WrongNoise : public noise::Noise {
 public:
  WrongNoise(std::string name, DoneOfQuantum done) : name_(std::move(name)), done_(std::move(done)) {}
  std::string name() const override { return name_; }

 protected:
  std::uint64_t core_quantum(std::uint64_t x, std::uint64_t steps) override {
    return Noise::core_quantum(x, done_(index_++, steps));
  }
  void memory_quantum(std::byte* to, const std::byte* from, std::size_t bytes) override {
    Noise::memory_quantum(to, from, done_(index_++, bytes));
  }
  void link_quantum(CompiledExchange& exchange, std::uint64_t first, std::uint64_t rounds) override {
    if (const std::uint64_t done = done_(index_++, rounds); done > 0) Noise::link_quantum(exchange, first, done);
  }

 private:
  std::string name_;
  DoneOfQuantum done_;
  std::uint64_t index_ = 0;  // of all quanta so far
};

RegisteredBenchmark noise_that_does(const std::string& way, const DoneOfQuantum& done) {
  const std::string name = "mutant-noise-" + way;
  return {name, [name, done] { return std::make_unique<WrongNoise>(name, done); }};
}

const RegisteredBenchmark wrong_noises[] = {
    noise_that_does("nothing", [](auto, auto) { return 0; }),
    noise_that_does("half", [](auto, auto whole) { return whole / 2; }),
    noise_that_does("all-but-one", [](auto, auto whole) { return whole - 1; }),
    noise_that_does("leaves-quanta-out", [](auto index, auto whole) { return index % 7 == 3 ? 0 : whole; }),
    noise_that_does("first-only", [](auto index, auto whole) { return index == 0 ? whole : 0; }),
};

}  // namespace

}  // namespace plumb::mutants
