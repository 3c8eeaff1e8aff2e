// The forms of the kernels: how a batch is transformed.
#pragma once

#include <memory>

#include "benchmarks/hpcc/common/single_device.hpp"
#include "benchmarks/hpcc/fft/data.hpp"
#include "measure/slide.hpp"

namespace plumb::fft {

// Work of one replication of a kernel: `batch` transforms between two buffers, which have room for the operations of a
// sample.
struct Job {
  Shape shape;
  std::uint64_t batch = 1;
  Buffer* from = nullptr;
  Buffer* to = nullptr;
  int replication = 0;
  Slide slide = Slide();

  std::size_t bytes() const { return batch * shape.bytes(); }
  // For the operation followed by `later` others of the sample.
  BufferView source(std::uint64_t later) const { return {from, slide.source(later), bytes()}; }
  BufferView target(std::uint64_t later) const { return {to, slide.target(later), bytes()}; }
};

// User's options of the kernels; 0 = chosen by the form.
struct Tuning {
  int unroll = 0;                 // points at a time: per cycle of the pipeline, or per work item of a GPU
  std::uint64_t chunk_bytes = 0;  // GPU kernels with several passes: data between passes at a time
  std::uint64_t local_bytes = 0;  // GPU kernels: largest transform in the local memory of a group
};

class Form {
 public:
  virtual ~Form() = default;
  // Starts the job `count` times in sequence, each operation on its own part of the buffers; returns.
  virtual void start(std::uint64_t count) = 0;
  virtual void wait() = 0;
  // Seconds on the device's clock of the latest wait()'s commands; 0 if the runtime cannot tell.
  virtual double device_seconds() const { return 0; }
  virtual Json facts() const = 0;
};

// Throw Unsupported with the reason if the device cannot run the form.
std::unique_ptr<Form> make_cpu_form(Session& session, const Job& job);  // also for runtime `native`
std::unique_ptr<Form> make_gpu_form(Session& session, const Job& job, const Tuning& tuning);
std::unique_ptr<Form> make_pipeline_form(Session& session, const Job& job, const Tuning& tuning);
std::unique_ptr<Form> make_library_form(Session& session, const Job& job);

// Upper bound, over all forms, of device memory beside the data.
std::uint64_t bytes_beside_data(const Shape& shape, std::uint64_t batch);

// A buffer with this content.
std::unique_ptr<Buffer> make_buffer(Session& session, Queue& queue, const std::vector<std::byte>& content);

}  // namespace plumb::fft
