// noise: steadiness of cores, memory and links. Quanta of fixed work in sequence; a quantum's excess over the shortest
// is a detour (fixed work quanta: Sottile, Minnich, CLUSTER 2004; detours: Beckman et al., CLUSTER 2006).
#pragma once

#include <memory>
#include <vector>

#include "measure/benchmark.hpp"
#include "transport/transport.hpp"

namespace plumb::noise {

// Factor and addend of the core's chain x -> a x + c modulo 2^64 (Knuth's MMIX generator).
inline constexpr std::uint64_t factor = 6364136223846793005ull, addend = 1442695040888963407ull;

// A number after `steps` of the chain, one at a time: the measured work.
std::uint64_t steps_taken(std::uint64_t x, std::uint64_t steps);
// The same by squaring: the reference.
std::uint64_t steps_jumped(std::uint64_t x, std::uint64_t steps);

class Noise : public Benchmark {
 public:
  std::string name() const override { return "noise"; }
  std::string title() const override { return "quanta of fixed work: how steady cores, memory and links are"; }
  std::string source() const override { return "fixed work quanta (Sottile, Minnich, CLUSTER 2004)"; }
  bool needs_transport() const override { return true; }
  bool needs_device() const override { return false; }
  Preset preset(const std::string& name) const override;

  std::vector<Group> groups(const Plan& plan) const override;
  void prepare(Session& session, const Case& measured) override;
  void reset(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override;
  void run(Session& session, const Case& measured, Timed& timed) override;
  Validation validate(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override;
  Json facts() const override;
  void release() override;
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 protected:
  // Executes quantum `index` of a sample; overridden by mutants.
  virtual std::uint64_t core_quantum(std::uint64_t x, std::uint64_t steps) { return steps_taken(x, steps); }
  virtual void memory_quantum(std::byte* to, const std::byte* from, std::size_t bytes);
  virtual void link_quantum(CompiledExchange& exchange, std::uint64_t first, std::uint64_t rounds) {
    exchange.run(first, rounds);
  }

 private:
  Parameter<std::int64_t> steps_{
      *this, {"steps", "steps of a quantum of the core: dependent multiply-adds of integers"}, 750000, {1, 1000000000}};
  Parameter<std::int64_t> slice_{*this, {"slice", "bytes that a quantum of the memory copies", "log2 B"}, 22, {3, 30}};
  Parameter<std::int64_t> slices_{
      *this, {"slices", "slices of an array, and quanta of a sample; the array far beyond the caches"}, 32, {2, 4096}};
  Parameter<std::int64_t> message_{*this, {"message", "message of the link", "log2 B"}, 10, {3, 24}};
  Parameter<std::int64_t> rounds_{*this, {"rounds", "round trips of a quantum of the link"}, 256, {1, 65536}};
  Parameter<std::int64_t> quanta_{*this, {"quanta", "of a sample of the core, or the link"}, 64, {2, 4096}};

  Case core_case() const;
  Case memory_case() const;
  Case link_case(const Plan& plan) const;
  void prepare_link(Session& session);
  std::uint64_t start_of(const Session& session) const;
  Validation validate_core(const Session& session, std::uint64_t count) const;
  Validation validate_memory(std::uint64_t count) const;
  Validation validate_link(const Session& session, std::uint64_t count) const;
  void tell_detours(Timed& timed, double begin) const;
  std::uint64_t link_bytes() const;

  std::uint64_t repetition_ = 0;
  std::vector<std::uint64_t> states_;  // of the core, after each quantum
  std::unique_ptr<Buffer> from_, to_;
  std::unique_ptr<CompiledExchange> exchange_;  // destroyed before the buffers in use
};

}  // namespace plumb::noise
