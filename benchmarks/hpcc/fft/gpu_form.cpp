// gpu.cl: one kernel per pass over memory.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "benchmarks/hpcc/fft/form.hpp"
#include "benchmarks/hpcc/fft/plan.hpp"
#include "core/embedded.hpp"

namespace plumb::fft {

namespace {

constexpr std::uint64_t usual_local_bytes = 32768, whole_local_bytes = 131072, long_local_bytes = 65536;  // measured

GpuLimits limits_of(const DeviceInfo& info, const Tuning& tuning) {
  const std::uint64_t usual = std::min(info.local_bytes * 3 / 4, usual_local_bytes);
  const std::uint64_t wished = tuning.local_bytes, of_launch = info.launch_local_bytes * 3 / 4;
  GpuLimits limits{usual, info.largest_group, std::min(of_launch, whole_local_bytes),
                   std::min(of_launch, long_local_bytes)};
  if (wished > 0) limits = {std::min(usual, wished), info.largest_group, wished, std::min(wished, long_local_bytes)};
  return limits;
}

class GpuForm final : public Form {
 public:
  GpuForm(Session& session, const Job& job, const Tuning& tuning)
      : job_(job), one_pass_(true), queue_(session.device.make_queue()) {
    const DeviceInfo& info = session.device.info();
    passes_ = gpu_passes(job.shape.type, job.shape.log_points, tuning.unroll, limits_of(info, tuning));
    one_pass_ = passes_.size() == 1;
    chunk_ = job.batch;
    if (!one_pass_ && tuning.chunk_bytes > 0)
      chunk_ = std::clamp<std::uint64_t>(tuning.chunk_bytes / job.shape.bytes(), 1, job.batch);
    between_ = session.device.allocate(one_pass_ ? 1 : chunk_ * job.shape.bytes(), session.memory);
    for (const GpuPass& pass : passes_) {
      check(pass, info);
      KernelSource source;
      source.name = "fft/gpu.cl";
      source.opencl = embedded_text("benchmarks/hpcc/fft/gpu.cl");
      source.options = pass.options(job.shape.type, job.shape.log_points, job.shape.inverse);
      given_bytes_.push_back(0);
      if (info.launch_local_bytes > 0 && pass.padded_bytes(job.shape.type) > info.local_bytes) {
        source.options += " -DLOCAL_OF_LAUNCH";
        given_bytes_.back() = pass.padded_bytes(job.shape.type);
      }
      tables_.push_back(make_buffer(session, *queue_, pass.table().bytes(job.shape.type)));
      programs_.push_back(session.device.build(session.source(source)));
      kernels_.push_back(programs_.back()->kernel("fft_pass"));
    }
  }

  void start(std::uint64_t count) override {
    for (std::uint64_t later = count; later-- > 0;)
      for (std::uint64_t first = 0; first < job_.batch; first += chunk_)
        for (std::size_t pass = 0; pass < passes_.size(); ++pass)
          start_pass(pass, later, first, std::min(chunk_, job_.batch - first));
  }
  void wait() override { queue_->finish(); }
  Json facts() const override {
    Json passes = Json::array();
    for (const GpuPass& pass : passes_)
      passes.push_back(fmt::format("{} points, {} a work item, {} transforms a group", 1 << pass.log_length,
                                   1 << pass.log_points, 1 << pass.log_tile));
    return {{"kernel", "gpu"}, {"passes", passes}, {"transforms_between_passes", one_pass_ ? 0 : chunk_}};
  }

 private:
  void check(const GpuPass& pass, const DeviceInfo& info) const {
    if (pass.group() > static_cast<int>(info.largest_group))
      throw Unsupported(fmt::format("a pass of {} points takes {} work items a group, but {} has at most {}",
                                    1 << pass.log_length, pass.group(), info.name, info.largest_group));
    if (const std::uint64_t most = std::max(info.local_bytes, info.launch_local_bytes);
        pass.padded_bytes(job_.shape.type) > most)
      throw Unsupported(fmt::format("a pass of {} points takes {} bytes of local memory a group, but {} has {}",
                                    1 << pass.log_length, pass.padded_bytes(job_.shape.type), info.name, most));
  }

  // The first pass reads the data, the last one writes it; a buffer for a chunk is between them.
  void start_pass(std::size_t index, std::uint64_t later, std::uint64_t first, std::uint64_t transforms) {
    const bool begins = index == 0, ends = index + 1 == passes_.size();
    const GpuPass& pass = passes_[index];
    const BufferView from = begins ? job_.source(later) : whole(*between_);
    const BufferView to = ends ? job_.target(later) : whole(*between_);
    kernels_[index]->set(
        {from, to, static_cast<const Buffer*>(tables_[index].get()), transforms, begins ? first : 0, ends ? first : 0});
    const auto group = static_cast<std::size_t>(pass.group());
    queue_->enqueue(*kernels_[index],
                    {pass.groups(transforms, job_.shape.log_points) * group, group, given_bytes_[index]});
  }

  Job job_;
  bool one_pass_;
  std::uint64_t chunk_ = 1;  // transforms
  std::vector<GpuPass> passes_;
  std::vector<std::size_t> given_bytes_;  // local memory given with the launch, by pass
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Buffer> between_;
  std::vector<std::unique_ptr<Buffer>> tables_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
};

}  // namespace

std::unique_ptr<Form> make_gpu_form(Session& session, const Job& job, const Tuning& tuning) {
  return std::make_unique<GpuForm>(session, job, tuning);
}

}  // namespace plumb::fft
