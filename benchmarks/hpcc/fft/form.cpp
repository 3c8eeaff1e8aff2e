#include "benchmarks/hpcc/fft/form.hpp"

#include <algorithm>

#include "benchmarks/hpcc/fft/plan.hpp"
#include "device/library.hpp"

namespace plumb::fft {

namespace {

class LibraryForm final : public Form {
 public:
  LibraryForm(Session& session, const Job& job) : job_(job), queue_(session.device.make_queue(true)) {
    const FftShape shape{job.shape.type, job.shape.points(), job.batch, job.shape.inverse, session.memory.kind};
    queue_->enqueue_call([&](Queue& own) { library_ = make_fft_library(session.device, own, shape); });
  }

  void start(std::uint64_t count) override {
    for (std::uint64_t later = count; later-- > 0;)
      queue_->enqueue_call(
          [this, later](Queue& own) { library_->enqueue(own, job_.source(later), job_.target(later)); });
  }
  void wait() override { queue_->finish(); }
  double device_seconds() const override {
    const auto span = queue_->span();
    return span ? span->ended - span->started : 0;
  }
  Json facts() const override { return {{"library", library_->name()}}; }

 private:
  Job job_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<FftLibrary> library_;
};

}  // namespace

std::unique_ptr<Form> make_library_form(Session& session, const Job& job) {
  return std::make_unique<LibraryForm>(session, job);
}

std::unique_ptr<Buffer> make_buffer(Session& session, Queue& queue, const std::vector<std::byte>& content) {
  auto buffer = session.device.allocate(content.size(), session.memory);
  queue.write(content.data(), whole(*buffer));
  return buffer;
}

std::uint64_t bytes_beside_data(const Shape& shape, std::uint64_t batch) {
  // Between passes all transforms again, with a quarter for padding; in one pass at most the work space of 1024 groups.
  // Tables take at most three transforms.
  const bool passes = shape.log_points > 11;
  const std::uint64_t rooms =
      passes ? batch * shape.bytes() / 4 * 5 : std::min<std::uint64_t>(batch, 1024) * 2 * shape.bytes();
  return rooms + 3 * shape.bytes() + (1 << 20);
}

}  // namespace plumb::fft
