#include "benchmarks/hpcc/gemm/form.hpp"

#include <algorithm>

namespace plumb::gemm {

OneQueueForm::OneQueueForm(Session& session, const Problem& problem)
    : session_(session),
      problem_(problem),
      slide_(session.device.info()),
      a_(session.device.allocate(slide_.source_room(problem.bytes(problem.a_items())), session.memory)),
      b_(session.device.allocate(problem.bytes(problem.b_items()), session.memory)),
      c_(session.device.allocate(slide_.source_room(problem.bytes(problem.c_items())), session.memory)),
      out_(session.device.allocate(slide_.target_room(problem.bytes(problem.c_items())) + guard_bytes, session.memory)),
      queue_(session.device.make_queue(true)) {}

void OneQueueForm::reset(const Inputs& inputs, std::uint64_t count) {
  const std::size_t a_bytes = problem_.bytes(problem_.a_items()), c_bytes = problem_.bytes(problem_.c_items());
  give(*queue_, inputs.a, *a_, slide_.sources(a_bytes, count));
  queue_->write(inputs.b.data(), whole(*b_));
  give(*queue_, inputs.c, *c_, slide_.sources(c_bytes, count), inputs.c_begin);
  const Slide::Range taken = slide_.targets(c_bytes, count);
  poison(*queue_, {out_.get(), taken.begin, taken.size + guard_bytes});
  for (const auto& buffer : scratch_) poison(*queue_, whole(*buffer));
}

double OneQueueForm::finish() {
  queue_->finish();
  const auto span = queue_->span();
  return span ? span->ended - span->started : 0;
}

Buffer& OneQueueForm::add_scratch(std::size_t bytes) {
  return *scratch_.emplace_back(session_.device.allocate(bytes, session_.memory));
}

void give(Queue& queue, const std::vector<std::byte>& from, Buffer& to, const Slide::Range& range, std::size_t first) {
  queue.write(from.data() + first + range.begin, {&to, range.begin, range.size});
}

void poison(Queue& queue, const BufferView& view) {
  const std::vector<std::byte> bytes(std::min(view.size, std::size_t{4} << 20), poison_byte);
  for (std::size_t at = 0; at < view.size; at += bytes.size())
    queue.enqueue_write(bytes.data(), {view.buffer, view.offset + at, std::min(bytes.size(), view.size - at)});
  queue.finish();
}

std::string element_options(const Element& element) {
  const std::string computed = element.computed == ScalarType::f64 ? "double" : "float";
  return "-DELEMENT=" + to_string(element.stored) + " -DREAL=" + computed +
         (element.stored == ScalarType::f16 ? " -DHALF" : "");
}

std::string board_options(const std::string& type) {
  return type == "bfloat16" || type == "tf32" ? "" : element_options(element_of(type));
}

KernelArgument factor(const Element& element, double value) {
  if (element.computed == ScalarType::f64) return value;
  return static_cast<float>(value);
}

std::uint32_t word(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

}  // namespace plumb::gemm
