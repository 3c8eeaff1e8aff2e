// A part of a mesh on its rank's device, and the steps of the simulation there.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "benchmarks/apps/shallow_water/partition.hpp"
#include "benchmarks/apps/shallow_water/physics.hpp"
#include "benchmarks/apps/shallow_water/reference.hpp"
#include "core/scalar.hpp"
#include "measure/benchmark.hpp"
#include "transport/transport.hpp"
#include "world/team.hpp"

namespace plumb::shallow_water {

struct Job {
  Physics physics;
  int order = 0;
  ScalarType type = ScalarType::f32;
  double time_step = 1;               // s
  Solution solution = {};             // with a source: it drives the exact edges and the sources
  bool overlaps = true;               // core elements are computed during the exchange
  bool border_apart = false;          // messages and border elements have a queue of their own, beside the core's
  bool in_pipeline = false;           // the form for FPGAs
  bool is_persistent = false;         // kernels stay on the device for all steps
  bool is_together = false;           // a state has four values of an element side by side
  std::uint32_t max_elements = 8192;  // of a part with its halo, in that form

  std::size_t components() const { return fields * basis_of(order); }
  // Values of an element in a state: if together also of the bed, and in fours.
  std::size_t values() const { return is_together ? (components() + (order == 0 ? 1 : 3) + 3) / 4 * 4 : components(); }
  // Where a state has value `i` of an element, in values.
  std::size_t place(std::size_t i, std::size_t element, std::size_t stride) const {
    return is_together ? (i / 4 * stride + element) * 4 + i % 4 : i * stride + element;
  }
};

enum Phase : std::size_t { wait_phase };

// Bytes on the device of `own` elements with `halo` elements received and `sent` sent.
std::size_t device_bytes_of(const Job& job, std::size_t own, std::size_t halo, std::size_t sent);

// In the form for FPGAs: bytes of local memory of a kernel, and the sentence on a part that has no room there, or "".
std::size_t local_bytes_of(const Job& job);
std::string too_large(const Part& part, std::size_t rank, const Job& job);

class Pipeline;
class Persistent;

class Solver {
 public:
  // Without transport the part has no neighbours.
  Solver(Session& session, Transport* transport, const Mesh& mesh, const Job& job, Part part);
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;
  virtual ~Solver();

  // Untimed: the state at time 0, coefficients of the mesh's elements; everything else is poisoned.
  void reset(const Coefficients& start);
  // Whether the device held the poison of the last reset: if it takes nothing any more, its state is an earlier one.
  bool was_poisoned() const { return was_poisoned_; }
  // The steps `first` to `last` - 1, after all before. Complete on return.
  void advance(std::uint64_t first, std::uint64_t last, Timed* timed);

  // State of own elements after `steps`, one element after the other: as the device's bytes, and in double.
  std::vector<std::byte> bytes(std::uint64_t steps);
  Coefficients as_doubles(const std::vector<std::byte>& bytes) const;
  // Coefficients of one own element, by its local number, after `steps`.
  virtual Coefficients element(std::uint32_t number, std::uint64_t steps);
  // The own element that fell below the minimum depth first, by (step, index in the mesh); of INT64_MAX if none did.
  // Steps count from 1.
  Located<std::int64_t> first_dry();
  const Part& part() const { return part_; }
  // Whether kernels send and receive by themselves.
  bool is_streamed() const;
  // Whether all of a stage's border runs beside its core.
  bool has_border_apart() const { return border_ != nullptr; }

 protected:
  // For mutants of the tests.
  virtual void exchange_begin() { exchange_->start_after(border(), 0, 1); }
  virtual void exchange_end() { exchange_->precede(border()); }
  virtual void follow_border() { queue_->follow(*border_); }
  virtual void follow_core() { border_->follow(*queue_); }
  virtual double sea_level(double t) const { return job_.physics.tide.level(t); }
  virtual bool skips(std::uint64_t, std::size_t) const { return false; }  // a stage of a step
  CompiledExchange& exchange() { return *exchange_; }
  Queue& border() { return border_ ? *border_ : *queue_; }  // of messages and border elements
  Buffer& outgoing() { return *outgoing_; }
  Buffer& incoming() { return *incoming_; }
  std::size_t element_bytes() const { return job_.components() * size_of(job_.type); }  // in messages

 private:
  void write_mesh(const Mesh& mesh);
  void build(Session& session, Transport* transport);
  void compile(Transport& transport, const World& world);
  void one_stage(std::uint64_t step, std::size_t index, Timed* timed);
  void persist(std::uint64_t first, std::uint64_t last);
  void pipe(std::uint64_t first, std::uint64_t last, Timed* timed);
  void await_messages(Timed* timed);
  void finish_exchange(Timed* timed);
  void launch(Queue& queue, std::uint32_t first, std::uint32_t count);
  void enqueue(Queue& queue, Kernel& kernel, std::size_t items);
  std::vector<double> given_at(double t) const;
  std::uint64_t steps_at_once() const;
  std::size_t final_state(std::uint64_t steps) const { return job_.order == 0 && !job_.in_pipeline ? steps % 2 : 0; }
  KernelArgument real(double value) const;
  std::array<double, 3> bed_of(std::uint32_t number) const;
  void put(double value, std::vector<std::byte>& image, std::size_t place) const;
  template <class T>
  void write(const std::vector<T>& values, Buffer& buffer);
  void write_reals(const std::vector<double>& values, Buffer& buffer);

  const Mesh& mesh_;
  Job job_;
  Part part_;
  bool is_given_, was_poisoned_ = false;
  std::uint32_t stride_ = 0, sent_ = 0, lanes_ = 1;  // lanes: elements of a work item
  std::size_t group_items_ = 64;
  std::unique_ptr<Queue> queue_, border_;  // the second for Job::border_apart
  std::vector<std::unique_ptr<Buffer>> states_;
  std::unique_ptr<Buffer> neighbours_, geometry_, bed_, given_, dry_, list_, outgoing_, incoming_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> stage_, pack_, unpack_;
  std::unique_ptr<Pipeline> pipeline_;      // instead of these
  std::unique_ptr<Persistent> persistent_;  // likewise
  std::unique_ptr<CompiledExchange> exchange_;
};

}  // namespace plumb::shallow_water
