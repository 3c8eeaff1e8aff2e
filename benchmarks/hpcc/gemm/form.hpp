// The ways to compute the product on a device: which kernels, in which launches, with which memory beside the matrices.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/hpcc/gemm/bound.hpp"
#include "benchmarks/hpcc/gemm/problem.hpp"
#include "measure/benchmark.hpp"
#include "measure/slide.hpp"

namespace plumb::gemm {

// The matrices as the device stores them, A and C with room for all operations of a sample.
struct Inputs {
  std::vector<std::byte> a, b, c;
};

// Blocks of the FPGA's form (HPCC FPGA's BLOCK_SIZE, GEMM_BLOCK, GLOBAL_MEM_UNROLL) and its replications.
struct Blocks {
  std::size_t block = 0, register_block = 0, unroll = 0, replications = 1;
  bool replicate_inputs = false;
};

struct GpuWish {
  bool asked_for = false;     // by --kernel gpu, whatever the device is
  bool matrix_units = false;  // to be used where there are some
};

// A buffer of products, and which items of C it has.
struct Output {
  Queue* queue;
  Buffer* buffer;
  std::size_t first_item, items;
};

inline constexpr std::size_t guard_bytes = 4096;  // behind the last byte of out that any operation writes

// The operation of a sample that `later` more come after works on A and C from slide.source(later) on, and on out from
// slide.target(later) on; B is the same for all.
class Form {
 public:
  virtual ~Form() = default;
  // Untimed, for so many operations: inputs written, what will be computed and all scratch poisoned.
  virtual void reset(const Inputs& inputs, std::uint64_t count) = 0;
  virtual void enqueue(std::uint64_t later) = 0;  // one product
  // Waits for all that was enqueued; the device's own time of it, 0 where it does not tell.
  virtual double finish() = 0;
  virtual std::vector<Output> outputs() = 0;
  virtual Rounding rounding() const = 0;
  virtual Json facts() const = 0;
};

std::unique_ptr<Form> make_single_work_item(Session& session, const Problem& problem, const Blocks& blocks);
std::unique_ptr<Form> make_cpu(Session& session, const Problem& problem);
std::unique_ptr<Form> make_gpu(Session& session, const Problem& problem, const GpuWish& wish);
// For an NVIDIA GPU of compute capability 9.0 through runtime cuda; throws where it is none, or lacks the type.
std::unique_ptr<Form> make_hopper(Session& session, const Problem& problem);
std::unique_ptr<Form> make_library(Session& session, const Problem& problem);

// Scratch that a form needs on the device beside A, B, C and out, at most.
std::uint64_t cpu_scratch_bytes(const Problem& problem);
std::uint64_t gpu_scratch_bytes(const Problem& problem);
std::uint64_t hopper_scratch_bytes(const Problem& problem);

// What most forms are made of: the four matrices and one queue.
class OneQueueForm : public Form {
 public:
  void reset(const Inputs& inputs, std::uint64_t count) override;
  double finish() override;
  std::vector<Output> outputs() override { return {{queue_.get(), out_.get(), 0, problem_.c_items()}}; }
  Rounding rounding() const override { return rounding_of(problem_.element); }

 protected:
  OneQueueForm(Session& session, const Problem& problem);
  // Allocated and poisoned with the rest at each reset.
  Buffer& add_scratch(std::size_t bytes);
  BufferView a(std::uint64_t later) const {
    return {a_.get(), slide_.source(later), problem_.bytes(problem_.a_items())};
  }
  BufferView c(std::uint64_t later) const {
    return {c_.get(), slide_.source(later), problem_.bytes(problem_.c_items())};
  }
  BufferView out(std::uint64_t later) const {
    return {out_.get(), slide_.target(later), problem_.bytes(problem_.c_items())};
  }

  Session& session_;
  Problem problem_;
  Slide slide_;
  std::unique_ptr<Buffer> a_, b_, c_, out_;
  std::vector<std::unique_ptr<Buffer>> scratch_;
  std::unique_ptr<Queue> queue_;
};

// Writes bytes first + range.begin and those that follow to the range of `to`.
void give(Queue& queue, const std::vector<std::byte>& from, Buffer& to, const Slide::Range& range,
          std::size_t first = 0);

// Fills with bytes that make NaN in every element type.
void poison(Queue& queue, const BufferView& view);

// "-D" definitions of the element type: ELEMENT, REAL and, for half, HALF.
std::string element_options(const Element& element);

KernelArgument factor(const Element& element, double value);  // alpha or beta, as kernels take it
std::uint32_t word(std::size_t value);                        // a kernel's uint
inline std::size_t pieces(std::size_t items, std::size_t size) {
  return (items + size - 1) / size;
}

}  // namespace plumb::gemm
