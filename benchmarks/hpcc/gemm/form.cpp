#include "benchmarks/hpcc/gemm/form.hpp"

#include <algorithm>

namespace plumb::gemm {

OneQueueForm::OneQueueForm(Session& session, const Problem& problem)
    : session_(session),
      problem_(problem),
      a_(session.device.allocate(problem.bytes(problem.a_items()), session.memory)),
      b_(session.device.allocate(problem.bytes(problem.b_items()), session.memory)),
      c_(session.device.allocate(problem.bytes(problem.c_items()), session.memory)),
      out_(session.device.allocate(problem.bytes(problem.c_items()), session.memory)),
      queue_(session.device.make_queue(true)) {}

void OneQueueForm::reset(const Inputs& inputs) {
  queue_->write(inputs.a.data(), whole(*a_));
  queue_->write(inputs.b.data(), whole(*b_));
  queue_->write(inputs.c.data(), whole(*c_));
  poison(*queue_, *out_);
  for (const auto& buffer : scratch_) poison(*queue_, *buffer);
}

double OneQueueForm::finish() {
  queue_->finish();
  const auto span = queue_->span();
  return span ? span->ended - span->started : 0;
}

void OneQueueForm::read(std::span<std::byte> product) {
  queue_->read(whole(*out_), product.data());
}

Buffer& OneQueueForm::add_scratch(std::size_t bytes) {
  return *scratch_.emplace_back(session_.device.allocate(bytes, session_.memory));
}

void poison(Queue& queue, Buffer& buffer) {
  const std::vector<std::byte> bytes(std::min(buffer.size(), std::size_t{4} << 20), std::byte{0xff});
  for (std::size_t at = 0; at < buffer.size(); at += bytes.size())
    queue.enqueue_write(bytes.data(), {&buffer, at, std::min(bytes.size(), buffer.size() - at)});
  queue.finish();
}

std::string element_options(const Element& element) {
  const std::string computed = element.computed == ScalarType::f64 ? "double" : "float";
  return "-DELEMENT=" + to_string(element.stored) + " -DREAL=" + computed +
         (element.stored == ScalarType::f16 ? " -DHALF" : "");
}

KernelArgument factor(const Element& element, double value) {
  if (element.computed == ScalarType::f64) return value;
  return static_cast<float>(value);
}

std::uint32_t word(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

}  // namespace plumb::gemm
