#include "benchmarks/hpcc/stream/replication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "device/host_share.hpp"

namespace plumb::stream {

namespace {

constexpr int poison = 0xff;  // bytes of NaN in every type

void note(Validation& validation, const std::string& detail) {
  if (validation.detail.empty()) validation.detail = detail;
}

void worsen(Validation& validation, double error) {
  if (!(error <= validation.error)) validation.error = error;
}

char letter(Array array) {
  return static_cast<char>('A' + static_cast<int>(array));
}

}  // namespace

Replication::Replication(Device& device, const Placement& memory, const Form& form, const Extent& extent)
    : type_(form.type), extent_(extent), queue_(device.make_queue(true)) {
  for (auto& array : buffers_.arrays) array = device.allocate(extent.buffer_bytes(), memory);
  for (auto& image : images_) image = allocate_host(device, extent.buffer_bytes());
  buffers_.sums = device.allocate((1 + form.dot_groups) * sizeof(double), memory);
}

void Replication::choose(const Operation& operation, std::vector<Launch> kernels) {
  operation_ = &operation;
  kernels_ = std::move(kernels);
  if (operation.kind == Operation::Kind::write)
    once_ = [this] {
      for (const Array array : all_arrays) queue_->enqueue_write(image(array).data(), numbers_of(array));
    };
  else if (operation.kind == Operation::Kind::read)
    once_ = [this] {
      for (const Array array : all_arrays) queue_->enqueue_read(numbers_of(array), image(array).data());
    };
  else if (kernels_.empty())
    once_ = [this] {
      queue_->enqueue_copy(numbers_of(operation_->inputs.front()), numbers_of(operation_->outputs.front()));
    };
  else
    once_ = [this] {
      for (const Launch& launch : kernels_) queue_->enqueue(*launch.kernel, launch.range);
    };
}

void Replication::fill_image(Array array, const Contents& contents) const {
  const std::span<std::byte> bytes = image(array);
  fill(bytes.first(extent_.bytes()), contents.of(array));
  std::memset(bytes.data() + extent_.bytes(), 0, extent_.padded_bytes() - extent_.bytes());
  std::memset(bytes.data() + extent_.padded_bytes(), poison_byte, Extent::guard);  // unlike the outputs' guards
}

void Replication::poison_image(Array array) const {
  std::memset(image(array).data(), poison, image(array).size());
}

void Replication::reset(const Contents& contents) {
  const auto put = [&](Array array) { queue_->write(image(array).data(), whole(buffer(array))); };
  const bool writes = operation_->kind == Operation::Kind::write, reads = operation_->kind == Operation::Kind::read;
  for (const Array array : operation_->inputs) {
    if (writes) continue;  // its inputs are the images
    fill_image(array, contents);
    put(array);
  }
  for (const Array array : operation_->outputs) {
    poison_image(array);
    if (!reads) put(array);  // its outputs are the images
    if (writes) fill_image(array, contents);
  }
  const std::vector<std::byte> no_sums(buffers_.sums->size(), std::byte{poison});
  queue_->write(no_sums.data(), whole(*buffers_.sums));
}

void Replication::check(const Contents& contents, Validation& validation) {
  if (operation_->kind == Operation::Kind::dot) return check_dot(contents, validation);
  for (const Array array : operation_->outputs) check_array(array, contents, validation);
}

void Replication::check_array(Array array, const Contents& contents, Validation& validation) {
  const std::span<std::byte> bytes = image(array);
  if (operation_->kind != Operation::Kind::read) {
    poison_image(array);  // a read that does not happen must not pass
    queue_->read(whole(buffer(array)), bytes.data());
  }
  // Of a transfer each array is its own input.
  const Array first = operation_->is_transfer() ? array : operation_->inputs.front();
  const Array second = operation_->is_transfer() ? array : operation_->inputs.back();
  const Difference found = compare(bytes.first(extent_.bytes()), *operation_, contents.of(first), contents.of(second));
  validation.items_checked += extent_.elements;
  validation.wrong_items += found.wrong;
  worsen(validation, found.largest);
  if (found.wrong > 0)
    note(validation, fmt::format("{}[{}] is {}, should be {}; {} of {} wrong", letter(array), found.first, found.is,
                                 found.should_be, found.wrong, extent_.elements));
  const auto guard = bytes.subspan(extent_.padded_bytes());
  const auto written = std::count_if(guard.begin(), guard.end(), [](std::byte b) { return b != std::byte{poison}; });
  if (written > 0) {
    validation.wrong_items += static_cast<std::uint64_t>(written);
    validation.error = std::numeric_limits<double>::infinity();
    note(validation, fmt::format("{} bytes behind the end of {} were written", written, letter(array)));
  }
}

void Replication::check_dot(const Contents& contents, Validation& validation) {
  std::vector<std::byte> bytes(type_ == ScalarType::f64 ? sizeof(double) : sizeof(float));
  queue_->read({buffers_.sums.get(), 0, bytes.size()}, bytes.data());
  double is = 0;
  load_scalars(bytes, type_ == ScalarType::f64 ? ScalarType::f64 : ScalarType::f32, std::span(&is, 1));
  const double should_be = dot(contents.a, contents.b, extent_.elements);
  validation.items_checked += 1;
  worsen(validation, std::abs(is - should_be));
  if (is == should_be) return;
  validation.wrong_items += 1;
  note(validation, fmt::format("A.B is {}, should be {}", is, should_be));
}

}  // namespace plumb::stream
