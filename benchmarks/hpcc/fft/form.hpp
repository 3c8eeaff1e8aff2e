// The forms of the kernels: what is started, and waited for, to transform a batch.
#pragma once

#include <memory>

#include "benchmarks/hpcc/common/single_device.hpp"
#include "benchmarks/hpcc/fft/data.hpp"
#include "measure/slide.hpp"

namespace plumb::fft {

// What one replication of a kernel has to do: `batch` transforms from one buffer into another, which have room for the
// operations of a sample.
struct Job {
  Shape shape;
  std::uint64_t batch = 1;
  Buffer* from = nullptr;
  Buffer* to = nullptr;
  int replication = 0;
  Slide slide = Slide();

  std::size_t bytes() const { return batch * shape.bytes(); }
  // Of the operation that so many of the sample come after.
  BufferView source(std::uint64_t later) const { return {from, slide.source(later), bytes()}; }
  BufferView target(std::uint64_t later) const { return {to, slide.target(later), bytes()}; }
};

// What the user may choose of the kernels; 0 = by the form.
struct Tuning {
  int unroll = 0;  // points at a time: in a cycle of the pipeline, or of a GPU's work item
  std::uint64_t chunk_bytes =
      0;  // GPU kernels with several passes: of the transforms that are between passes at a time
};

class Form {
 public:
  virtual ~Form() = default;
  // Starts the whole job `count` times, each operation on its own part of the buffers, one after the other; returns.
  virtual void start(std::uint64_t count) = 0;
  virtual void wait() = 0;
  // Seconds on the device's clock of what the latest wait() awaited; 0 where the runtime does not tell.
  virtual double device_seconds() const { return 0; }
  virtual Json facts() const = 0;
};

// What the device offers decides whether they are possible: Unsupported, with the reason.
std::unique_ptr<Form> make_cpu_form(Session& session, const Job& job);  // runtime `native` as well
std::unique_ptr<Form> make_gpu_form(Session& session, const Job& job, const Tuning& tuning);
std::unique_ptr<Form> make_pipeline_form(Session& session, const Job& job, const Tuning& tuning);
std::unique_ptr<Form> make_library_form(Session& session, const Job& job);

// The most memory on the device, beside the data, that any of the forms takes.
std::uint64_t bytes_beside_data(const Shape& shape, std::uint64_t batch);

// A buffer with this content.
std::unique_ptr<Buffer> make_buffer(Session& session, Queue& queue, const std::vector<std::byte>& content);

}  // namespace plumb::fft
