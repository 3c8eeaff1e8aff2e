// The matrices of one rank on its device, the exchanges and kernels that compute C, and the validation.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/hpcc/ptrans/kernels.hpp"
#include "benchmarks/hpcc/ptrans/matrices.hpp"
#include "measure/benchmark.hpp"
#include "measure/timed.hpp"
#include "transport/transport.hpp"

namespace plumb::ptrans {

// Bytes of a rank's buffers: A, B, C, received parts, and the table of blocks.
struct Extents {
  std::size_t a = 0, b = 0, c = 0, received = 0, table = 0, sent = 0;
  std::size_t all() const { return a + b + c + received + table; }
};
Extents extents_of(const std::vector<Portion>& parts, int rank, std::size_t number_bytes);

// Execution of an operation.
struct Course {
  std::uint64_t stages = 1;  // number of parts of the exchange
  bool overlaps = true;      // kernels run during the exchange of later stages
};

// Phases of a sample, in this order. The last three are the exchange's legs, if the transport has any.
enum Phase : std::size_t { exchange_phase, kernel_phase, read_phase, host_exchange_phase, write_phase };
inline const std::vector<std::string> phase_names{"exchange", "kernel", "read", "host exchange", "write"};

// Legs of all stages as phases: from the first one's beginning to the last one's end where they overlap.
class LegPhases final : public LegWatch {
 public:
  void record_in(Timed& timed) { timed_ = &timed; }
  void begin(Leg leg) override {
    const auto number = static_cast<std::size_t>(leg);
    if (open_[number]++ == 0) timed_->begin(read_phase + number);
  }
  void end(Leg leg) override {
    const auto number = static_cast<std::size_t>(leg);
    if (--open_[number] == 0) timed_->end(read_phase + number);
  }

 private:
  Timed* timed_ = nullptr;
  std::array<std::uint64_t, 3> open_{};
};

class Transposition {
 public:
  Transposition(Session& session, const Distribution& distribution, const KernelForm& form, const Course& course);
  Transposition(const Transposition&) = delete;
  Transposition& operator=(const Transposition&) = delete;

  // Untimed: writes A of this repetition, poisons C and the received parts.
  void reset(std::uint64_t repetition, std::uint64_t count);
  // Executes all operations of a sample.
  void run(Timed& timed);
  Validation validate(std::uint64_t repetition, std::uint64_t count);

  std::size_t block_bytes() const;

 private:
  // A part, and its position in bytes in each buffer.
  struct Placed {
    LocalPortion local;
    std::size_t a = 0, b = 0, c = 0, received = 0, table = 0;
    std::unique_ptr<Kernel> kernel;
    KernelRange range;
    std::size_t bytes(ScalarType type) const { return local.part.items * size_of(type); }
  };

  void place(const std::vector<Portion>& parts);
  void allocate(const Extents& extents);
  void write_b();
  void write_table();
  void build();
  void compile();
  Step step_of(std::uint64_t stage) const;
  void operate(Timed& timed, std::uint64_t later);
  void operate_at_once(Timed& timed, std::uint64_t round);
  void enqueue_stage(std::uint64_t stage, std::uint64_t later);
  void enqueue(Placed& placed, std::uint64_t later);
  void fill(const Placed& placed, const Contents& contents, std::uint64_t count);
  void poison(Buffer& buffer, std::size_t begin, std::size_t end);
  void check(const Placed& placed, const Contents& contents, std::uint64_t count, Validation& validation);
  void check_region(Buffer& buffer, std::size_t at, const Placed& placed, const Contents& contents, std::uint64_t count,
                    bool is_c, Validation& validation);
  Contents contents(std::uint64_t repetition) const;

  Session& session_;
  Problem problem_;
  KernelForm form_;
  ScalarType type_;
  Course course_;
  std::unique_ptr<Buffer> a_, b_, c_, received_, table_;
  std::unique_ptr<Program> program_;
  std::deque<Placed> parts_;
  LegPhases legs_;
  std::vector<std::unique_ptr<CompiledExchange>> exchanges_;  // by stage; destroyed before the buffers
  std::unique_ptr<Queue> queue_;
  std::vector<std::byte> image_;
};

}  // namespace plumb::ptrans
