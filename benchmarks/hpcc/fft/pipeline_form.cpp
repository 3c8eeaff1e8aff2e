// single_work_item.cl: two kernels connected by a channel if the device has channels, otherwise one.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "benchmarks/hpcc/fft/form.hpp"
#include "benchmarks/hpcc/fft/plan.hpp"
#include "core/embedded.hpp"
#include "core/units.hpp"

namespace plumb::fft {

namespace {

class PipelineForm final : public Form {
 public:
  PipelineForm(Session& session, const Job& job, const Tuning& tuning)
      : job_(job),
        plan_(job.shape.type, job.shape.log_points, tuning.unroll > 0 ? tuning.unroll : 8),
        channels_(session.device.info().has(Feature::channels)) {
    const KernelSource source = session.source(own_source(job));
    if (source.binary.empty()) check(job, session.device.info());
    program_ = session.device.build(source);
    for (const std::string& name : names(job)) add(session, name);
    tables_ = make_buffer(session, *queues_[0], plan_.table().bytes(job.shape.type));
    const auto batch = static_cast<std::uint32_t>(job.batch);
    const std::int32_t inverse = job.shape.inverse ? 1 : 0;
    const Buffer *from = job.from, *to = job.to, *tables = tables_.get();
    if (channels_) {
      kernels_[0]->set({from, batch, inverse});
      kernels_[1]->set({to, tables, batch, inverse});
    } else {
      kernels_[0]->set({from, to, tables, batch, inverse});
    }
  }

  void start(std::uint64_t count) override {
    for (std::uint64_t later = count; later-- > 0;) {
      kernels_.front()->set(0, job_.source(later));
      kernels_.back()->set(channels_ ? 0 : 1, job_.target(later));
      for (std::size_t k = 0; k < kernels_.size(); ++k) queues_[k]->enqueue(*kernels_[k], {1, 1});
    }
    for (const auto& queue : queues_) queue->finished();  // submits all before waiting
  }
  void wait() override {
    for (const auto& queue : queues_) queue->finish();
  }
  // From the first start to the last end.
  double device_seconds() const override {
    double started = 0, ended = 0;
    for (const auto& queue : queues_) {
      const auto span = queue->span();
      if (!span) return 0;
      started = ended == 0 ? span->started : std::min(started, span->started);
      ended = std::max(ended, span->ended);
    }
    return ended - started;
  }
  Json facts() const override {
    return {{"kernel", "pipeline"},
            {"points_per_cycle", 1 << plan_.log_unroll},
            {"cycles", 1 << plan_.log_cycles},
            {"fetch", channels_ ? "through a channel" : "in the same kernel"}};
  }

 private:
  KernelSource own_source(const Job& job) const {
    KernelSource source;
    source.name = "fft/single_work_item.cl";
    source.opencl = embedded_text("benchmarks/hpcc/fft/single_work_item.cl");
    source.options = plan_.options(job.replication, channels_);
    return source;
  }

  std::vector<std::string> names(const Job& job) const {
    std::vector<std::string> stems{"fft"};
    if (channels_) stems = {"fetch", "fft"};
    for (std::string& stem : stems) stem += fmt::format("_{}", job.replication);
    return stems;
  }

  void check(const Job& job, const DeviceInfo& info) const {
    const std::uint64_t needed = plan_.local_bytes();
    if (needed > info.local_bytes)
      throw Unsupported(fmt::format(
          "the pipeline for {} points in {} needs {} of on-chip memory in a kernel, but {} has {}", job.shape.points(),
          to_string(job.shape.type), format_bytes(needed), info.name, format_bytes(info.local_bytes)));
  }

  // A bitstream has a fixed number of replications.
  void add(Session& session, const std::string& name) {
    const std::vector<std::string> there = program_->kernel_names();
    if (std::find(there.begin(), there.end(), name) == there.end())
      throw Error(fmt::format("the kernel file has no kernel {}: --replications exceeds its kernels", name));
    kernels_.push_back(program_->kernel(name));
    queues_.push_back(session.device.make_queue(true));
  }

  Job job_;
  PipelinePlan plan_;
  bool channels_;
  std::unique_ptr<Program> program_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::unique_ptr<Queue>> queues_;  // one per kernel: they run concurrently
  std::unique_ptr<Buffer> tables_;
};

}  // namespace

std::unique_ptr<Form> make_pipeline_form(Session& session, const Job& job, const Tuning& tuning) {
  return std::make_unique<PipelineForm>(session, job, tuning);
}

}  // namespace plumb::fft
