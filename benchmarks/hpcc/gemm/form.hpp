// Methods of computing the product on a device: kernels, launches, and memory beside the matrices.
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

// The matrices as stored on the device; A and C have room for all operations of a sample. C begins at another of c's
// bytes in each repetition: a result of an earlier one is wrong.
struct Inputs {
  std::vector<std::byte> a, b, c;
  std::size_t c_begin = 0;
};

// Blocks of the FPGA's form (HPCC FPGA's BLOCK_SIZE, GEMM_BLOCK, GLOBAL_MEM_UNROLL) and its replications.
struct Blocks {
  std::size_t block = 0, register_block = 0, unroll = 0, replications = 1;
  bool replicate_inputs = false;
};

struct GpuWish {
  bool asked_for = false;     // by --kernel gpu, on any device
  bool matrix_units = false;  // use them if available
};

// A buffer of products, and the range of C's items in it.
struct Output {
  Queue* queue;
  Buffer* buffer;
  std::size_t first_item, items;
};

inline constexpr std::size_t guard_bytes = 4096;  // after the last byte of out that any operation writes

// The operation followed by `later` others of the sample uses A and C from slide.source(later) on, and out from
// slide.target(later) on; all operations share B.
class Form {
 public:
  virtual ~Form() = default;
  // Untimed, for `count` operations: writes inputs, poisons results and scratch memory.
  virtual void reset(const Inputs& inputs, std::uint64_t count) = 0;
  virtual void enqueue(std::uint64_t later) = 0;  // one product
  // Waits for all enqueued products; returns their device time, 0 if unknown.
  virtual double finish() = 0;
  virtual std::vector<Output> outputs() = 0;
  virtual Rounding rounding() const = 0;
  virtual Json facts() const = 0;
};

std::unique_ptr<Form> make_single_work_item(Session& session, const Problem& problem, const Blocks& blocks);
std::unique_ptr<Form> make_cpu(Session& session, const Problem& problem);
std::unique_ptr<Form> make_gpu(Session& session, const Problem& problem, const GpuWish& wish);
// For an NVIDIA GPU of compute capability 9.0 through runtime cuda; throws for other devices and types.
std::unique_ptr<Form> make_hopper(Session& session, const Problem& problem);
std::unique_ptr<Form> make_library(Session& session, const Problem& problem);

// Upper bound of a form's scratch memory on the device beside A, B, C and out.
std::uint64_t cpu_scratch_bytes(const Problem& problem);
std::uint64_t gpu_scratch_bytes(const Problem& problem);
std::uint64_t hopper_scratch_bytes(const Problem& problem);

// Base of most forms: the four matrices and one queue.
class OneQueueForm : public Form {
 public:
  void reset(const Inputs& inputs, std::uint64_t count) override;
  double finish() override;
  std::vector<Output> outputs() override { return {{queue_.get(), out_.get(), 0, problem_.c_items()}}; }
  Rounding rounding() const override { return rounding_of(problem_.element); }

 protected:
  OneQueueForm(Session& session, const Problem& problem);
  // Allocated once, poisoned with the rest at each reset.
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

// Writes the bytes from first + range.begin on to the range of `to`.
void give(Queue& queue, const std::vector<std::byte>& from, Buffer& to, const Slide::Range& range,
          std::size_t first = 0);

// Fills with bytes that are NaN in every element type.
void poison(Queue& queue, const BufferView& view);

// "-D" definitions of the element type: ELEMENT, REAL and, for half, HALF.
std::string element_options(const Element& element);
// The same for a board's kernels, by the type's name; "" for types that they do not have.
std::string board_options(const std::string& type);

KernelArgument factor(const Element& element, double value);  // alpha or beta as a kernel argument
std::uint32_t word(std::size_t value);                        // as a kernel's uint
inline std::size_t pieces(std::size_t items, std::size_t size) {
  return (items + size - 1) / size;
}

}  // namespace plumb::gemm
