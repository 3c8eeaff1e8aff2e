// Variant `single_work_item`: HPCC FPGA's form. Replications are launches on separate queues, each with its share of
// C's rows of blocks.
#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/hpcc/common/single_device.hpp"
#include "benchmarks/hpcc/gemm/form.hpp"
#include "core/embedded.hpp"

namespace plumb::gemm {

namespace {

class SingleWorkItemForm final : public Form {
 public:
  SingleWorkItemForm(Session& session, const Problem& problem, const Blocks& blocks)
      : problem_(problem), blocks_(blocks), slide_(session.device.info()) {
    const std::string text = embedded_text("benchmarks/hpcc/gemm/single_work_item.cl");
    program_ = session.device.build(session.source(
        {.name = "single_work_item.cl",
         .opencl = text,
         .options = fmt::format("{} -DBLOCK={} -DGEMM_BLOCK={} -DGLOBAL_MEM_UNROLL={}",
                                element_options(problem.element), blocks.block, blocks.register_block, blocks.unroll),
         .hls = embedded_text("benchmarks/hpcc/gemm/single_work_item_hls.cpp")}));
    for (std::size_t r = 0; r < blocks.replications; ++r) add_replication(session, r);
  }

  void reset(const Inputs& inputs, std::uint64_t count) override {
    for (Replication& each : replications_) {
      const std::size_t a_bytes = problem_.bytes(problem_.a_items()), c_bytes = problem_.bytes(each.items);
      if (each.a) give(*each.queue, inputs.a, *each.a, slide_.sources(a_bytes, count));
      if (each.b) each.queue->write(inputs.b.data(), whole(*each.b));
      give(*each.queue, inputs.c, *each.c, slide_.sources(c_bytes, count),
           inputs.c_begin + problem_.bytes(each.first_item));
      const Slide::Range taken = slide_.targets(c_bytes, count);
      poison(*each.queue, {each.out.get(), taken.begin, taken.size + guard_bytes});
    }
  }

  void enqueue(std::uint64_t later) override {
    for (Replication& each : replications_) {
      const std::size_t a_bytes = problem_.bytes(problem_.a_items()), c_bytes = problem_.bytes(each.items);
      Buffer* a = each.a ? each.a.get() : replications_.front().a.get();
      each.kernel->set(0, BufferView{a, slide_.source(later), a_bytes});
      each.kernel->set(2, BufferView{each.c.get(), slide_.source(later), c_bytes});
      each.kernel->set(3, BufferView{each.out.get(), slide_.target(later), c_bytes});
      each.queue->enqueue(*each.kernel, {1, 1});
    }
  }

  double finish() override {
    double begin = 0, end = 0;
    for (Replication& each : replications_) {
      each.queue->finish();
      const auto span = each.queue->span();
      if (!span) return 0;
      begin = begin == 0 ? span->started : std::min(begin, span->started);
      end = std::max(end, span->ended);
    }
    return end - begin;
  }

  std::vector<Output> outputs() override {
    std::vector<Output> outputs;
    for (Replication& each : replications_)
      outputs.push_back({each.queue.get(), each.out.get(), each.first_item, each.items});
    return outputs;
  }

  Rounding rounding() const override { return rounding_of(problem_.element); }
  Json facts() const override {
    return {{"variant", "single_work_item"},
            {"block_size", blocks_.block},
            {"gemm_block", blocks_.register_block},
            {"global_mem_unroll", blocks_.unroll},
            {"replications", replications_.size()}};
  }

 private:
  struct Replication {
    std::unique_ptr<Buffer> a, b;  // null if another replication's is used
    std::unique_ptr<Buffer> c, out;
    std::size_t first_item = 0, items = 0;  // its items of C
    std::unique_ptr<Queue> queue;
    std::unique_ptr<Kernel> kernel;
  };

  // A bitstream has one kernel per replication (gemm0, gemm1, …), or one for all, as a program compiled here has.
  std::unique_ptr<Kernel> kernel_of(std::size_t replication) {
    const auto names = program_->kernel_names();
    const std::string numbered = fmt::format("gemm{}", replication);
    const auto has = [&](const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (has("gemm0") && !has(numbered))
      throw Error(fmt::format("the kernel file has no kernel {}: --replications {} exceeds its kernels", numbered,
                              blocks_.replications));
    return program_->kernel(has(numbered) ? numbered : "gemm");
  }

  void add_replication(Session& session, std::size_t index) {
    const std::size_t block_rows = pieces(problem_.rows, blocks_.block);
    const std::size_t first = block_rows * index / blocks_.replications,
                      end = block_rows * (index + 1) / blocks_.replications;
    if (first == end) return;  // more replications than rows of blocks
    const std::size_t first_row = first * blocks_.block, end_row = std::min(problem_.rows, end * blocks_.block);
    const Placement memory = blocks_.replicate_inputs ? session.memory.in_bank(static_cast<int>(index),
                                                                               static_cast<int>(blocks_.replications))
                                                      : session.memory;
    const auto allocate = [&](std::size_t bytes) { return session.device.allocate(bytes, memory); };
    Replication each;
    if (replications_.empty() || blocks_.replicate_inputs) {
      each.a = allocate(slide_.source_room(problem_.bytes(problem_.a_items())));
      each.b = allocate(problem_.bytes(problem_.b_items()));
    }
    each.first_item = first_row * problem_.columns;
    each.items = (end_row - first_row) * problem_.columns;
    each.c = allocate(slide_.source_room(problem_.bytes(each.items)));
    each.out = allocate(slide_.target_room(problem_.bytes(each.items)) + guard_bytes);
    each.queue = session.device.make_queue(true);
    each.kernel = kernel_of(index);
    replications_.push_back(std::move(each));
    set_arguments(replications_.back(), first_row, end_row);
  }

  void set_arguments(Replication& each, std::size_t first_row, std::size_t end_row) {
    const Buffer* a = each.a ? each.a.get() : replications_.front().a.get();
    const Buffer* b = each.b ? each.b.get() : replications_.front().b.get();
    each.kernel->set({a, b, static_cast<const Buffer*>(each.c.get()), static_cast<const Buffer*>(each.out.get()),
                      factor(problem_.element, problem_.alpha), factor(problem_.element, problem_.beta),
                      word(first_row), word(end_row), word(problem_.columns), word(problem_.inner)});
  }

  Problem problem_;
  Blocks blocks_;
  Slide slide_;
  std::unique_ptr<Program> program_;
  std::vector<Replication> replications_;
};

}  // namespace

std::unique_ptr<Form> make_single_work_item(Session& session, const Problem& problem, const Blocks& blocks) {
  if (problem.element.short_factors)
    throw Unsupported("variant single_work_item does not support type tf32, which needs a GPU's matrix units");
  hpcc::require_type(session.device.info(), problem.element.computed);
  return std::make_unique<SingleWorkItemForm>(session, problem, blocks);
}

}  // namespace plumb::gemm
